# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests of the command share: folders of their own, exact comparison, programs that end with the test.
set -euo pipefail

: "${BIN:?the folder of gkhi and ticker}"
work=$(mktemp -d)
mkdir -m 700 "$work/run"
export GKHI_DIR=$work/run
unset GKHI GKHI_KEEP GKHI_AGENT
pids=()

finish() {
	local code=$?
	for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
	rm -rf "$work"
	exit $code
}
trap finish EXIT

fail() {
	echo "$0: line ${BASH_LINENO[0]}: $*" >&2
	exit 1
}

# same FOUND WANTED: the very text; WANTED may be a pattern of [[ == ]].
same() {
	# shellcheck disable=SC2053
	[[ $1 == $2 ]] || fail "found:
$1
wanted:
$2"
}

# code WANTED COMMAND...: its exit status; stdout and stderr in $work/out and $work/err.
code() {
	local wanted=$1 found=0
	shift
	"$@" >"$work/out" 2>"$work/err" || found=$?
	[ "$found" = "$wanted" ] || fail "exit status $found, wanted $wanted: $*
$(cat "$work/out" "$work/err")"
}

# start COMMAND...: in the background, after its first line; its pid in $pid.
start() {
	mkfifo "$work/first.${#pids[@]}"
	"$@" >"$work/first.${#pids[@]}" &
	pid=$!
	read -r _ <"$work/first.${#pids[@]}"
	pids+=("$pid")
}

# hits PID HOOK
hits() {
	"$BIN/gkhi" list -p "$1" --raw --noheadings -o HOOK,HITS | sed -n "s/^$2 //p"
}

# until_more PID HOOK N: waits until the hook has more than N hits.
until_more() {
	for _ in $(seq 200); do
		[ "$(hits "$1" "$2")" -gt "$3" ] && return
		sleep 0.05
	done
	fail "$2 stays at $(hits "$1" "$2")"
}
