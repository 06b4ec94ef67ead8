#!/bin/bash
# SPDX-License-Identifier: MIT
# The main job on real input: SQLite, traced while it works. `make demo` runs it; a count that is wrong makes it fail.
#
#   BUILD   build folder (default: build)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${BUILD:-$top/build}
sqlite=$build/examples/sqlite
out=$build/demo
PATH=$build/bin:$PATH

bold='' plain=''
if [ -t 1 ]; then
	bold=$'\033[1m' plain=$'\033[0m'
fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
fail() { echo "demo.sh: $*" >&2; exit 1; }
# Show a command as one would type it; `show` runs it too.
shown() {
	local word line='$'
	for word in "$@"; do
		word=${word//$sqlite\//}
		word=${word//$build\//build/}
		word=${word//$work\//}
		case $word in
		*[!A-Za-z0-9_./=,:-]*) line="$line '$word'" ;;
		*) line="$line $word" ;;
		esac
	done
	echo "$line"
}
show() {
	shown "$@"
	"$@"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/gkhi-demo.XXXXXX")
worker=
finish() {
	[ -z "$worker" ] || { kill "$worker" && wait "$worker"; } 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
mkdir -m 700 "$work/gkhi"
export GKHI_DIR=$work/gkhi
rm -rf "$out"
mkdir -p "$out"

say "1. SQLite, from Debian's source package, with hooks"
cmake --build "$build" --target sqlite-example -j"$(nproc)" >"$work/build.log" 2>&1 ||
	{ cat "$work/build.log" >&2; fail "SQLite does not build"; }
echo "An event is declared in examples/sqlite/sqlite.yaml ..."
sed -n '/- name: cache_spill/,/message:/p' "$here/sqlite.yaml" | sed 's/^/    /'
echo "... and fired by one line of SQLite's source, from examples/sqlite/sqlite.patch:"
sed -n '/PAGER_STAT_SPILL/{s/^.//p;n;s/^+/ /p}' "$here/sqlite.patch" | sed 's/^/    /'
echo "Its sites, in the built library:"
shown gkhi map "$sqlite/libsqlite3.so"
gkhi map "$sqlite/libsqlite3.so" | grep -E 'cache_spill|page_write' || fail "no sites in libsqlite3.so"

say "2. Hooks switched while SQLite works: disabled, static, marker, disabled"
# Yama lets nobody but root stop a process that is not a child of gkhi's: then the process switches itself, by a thread.
if [ "$(id -u)" != 0 ] && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" != 0 ]; then
	export GKHI_AGENT=thread
fi
"$sqlite/speedtest1" --size 2000 --nosync --cachesize 200 "$work/live.db" >/dev/null 2>"$work/live.err" &
worker=$!
echo "\$ speedtest1 --size 2000 live.db &      (process $worker, SQLite's own benchmark)"
sleep 0.5

hits() { gkhi list -p "$worker" -r -n -o HOOK,HITS | awk -v h="$1" '$1 == h { print $2 }'; }
phase() { # STATE ACTION CHANGES
	show gkhi set -p "$worker" "$2"
	local before after
	before=$(hits sqlite:opcode)
	sleep 0.7
	after=$(hits sqlite:opcode)
	gkhi list -p "$worker" | grep -E 'HOOK|opcode|page_write|step'
	printf '  opcodes recorded in the last 0.7 s: %d\n' $((after - before))
	case $3 in
	yes) [ "$after" -gt "$before" ] || fail "no events in state $1" ;;
	no) [ "$after" = "$before" ] || fail "events in state $1" ;;
	esac
	[ "$(gkhi list -p "$worker" -r -n -o HOOK,EFFECTIVE | grep -c " $1\$")" = 16 ] || fail "not every hook is really in state $1"
}
phase static 'channel main backend=ring subbuf_size=256K n_subbufs=8; sqlite:* +static' yes
phase marker 'sqlite:* +marker' yes
show gkhi snapshot -p "$worker" -o "$out/flight"
phase disabled 'sqlite:* -' no
kill -0 "$worker" 2>/dev/null || { cat "$work/live.err" >&2; fail "the workload ended early"; }
{ kill "$worker" && wait "$worker"; } 2>/dev/null || true
worker=

say "3. A whole run, every event of it; the hooks go from static to marker and back meanwhile"
record=(gkhi record -e 'sqlite:*=static' --subbuf-size 1M --subbufs 64 -o "$out/trace" --)
workload=("$sqlite/speedtest1" --size 2 --cachesize 50 "$work/run.db")
shown "${record[@]}" "${workload[@]}"
# The buffers hold the whole run, however busy the machine. The shell in between tells the process id for `gkhi set`.
# shellcheck disable=SC2016  # that shell expands it
SQLITE_TRUTH=$work/truth "${record[@]}" sh -c 'echo $$ >"$0"; exec "$@"' "$work/pid" "${workload[@]}" >/dev/null &
recorder=$!
switched=0
while kill -0 "$recorder" 2>/dev/null; do
	if [ -s "$work/pid" ]; then
		for state in marker static; do
			if gkhi set -p "$(cat "$work/pid")" "sqlite:* +$state" >/dev/null 2>&1; then switched=$((switched + 1)); fi
		done
	fi
	sleep 0.03
done
wait "$recorder" || fail "gkhi record failed"
[ "$switched" -gt 0 ] || fail "the hooks were not switched while it ran"
echo "switched $switched times while it ran; what SQLite counted itself, and what the trace holds:"
"$here/compare.sh" "$(command -v gkhi)" "$out/trace" "$work/truth" || fail "counts differ"

say "4. Reading it"
shown gkhi report --message -e sqlite:prepare -e sqlite:transaction_end "$out/trace"
gkhi report --message -e sqlite:prepare -e sqlite:transaction_end "$out/trace" >"$work/text"
head -n 12 "$work/text" | sed "s|$work/||g" | cut -c 1-150
echo "  ..."
tail -n 1 "$work/text"
show gkhi report --stat "$out/flight"

say "Look at"
cat <<EOT
  examples/sqlite/sqlite.yaml     the events: sixteen of them, documented
  examples/sqlite/sqlite.patch    the hooks: one line each
  build/demo/trace                the whole run, a CTF 1.8 trace: gkhi report build/demo/trace, or babeltrace2 build/demo/trace
  build/demo/flight               the flight recorder's last moments
Every count above was right.
EOT
