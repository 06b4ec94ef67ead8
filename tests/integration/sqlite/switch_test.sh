#!/bin/bash
# SPDX-License-Identifier: MIT
# description: hooks go from static to marker and back while SQLite works, and not one opcode is lost or counted twice.
# usage: switch_test.sh BUILD_DIR SOURCE_DIR
BUILD=$1 SOURCE=$2
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Buffers that hold it all: what is tested is switching, not how fast a busy machine lets `gkhi record` write.
# shellcheck disable=SC2016  # the inner shell expands them
SQLITE_TRUTH=$tmp/truth "$gkhi" record --event 'sqlite:*=static' --subbuf-size 1M --subbufs 128 -o "$tmp/trace" -- \
	sh -c 'echo $$ >"$1.new" && mv "$1.new" "$1"; shift; exec "$@"' sh "$tmp/pid" \
	"$example/speedtest1" --size 8 --nosync "$tmp/db" >/dev/null 2>"$tmp/err" &
worker=$!
for _ in $(seq 500); do
	[ ! -e "$tmp/pid" ] || break
	sleep 0.01
done
[ -e "$tmp/pid" ] || { cat "$tmp/err" >&2; fail "the workload did not start in 5 s"; }
pid=$(cat "$tmp/pid")

switched=0
while kill -0 "$pid" 2>/dev/null && ! "$gkhi" list -p "$pid" 2>/dev/null | grep -q sqlite:opcode; do sleep 0.01; done
while kill -0 "$pid" 2>/dev/null; do
	for state in marker static; do
		if "$gkhi" set -p "$pid" "sqlite:* +$state" >/dev/null 2>"$tmp/set.err"; then
			switched=$((switched + 1))
		elif kill -0 "$pid" 2>/dev/null && [ -d "/proc/$pid/task" ]; then
			# It may be ending: only an error of a process that lives on is one.
			sleep 0.2
			! kill -0 "$pid" 2>/dev/null || { cat "$tmp/set.err" >&2; fail "gkhi set failed"; }
		fi
	done
done
wait "$worker" || { cat "$tmp/err" >&2; fail "gkhi record failed"; }
worker=
echo "switched $switched times while it ran"
[ "$switched" -ge 2 ] || fail "the workload ended before its hooks were switched"
"$SOURCE/examples/sqlite/compare.sh" "$gkhi" "$tmp/trace" "$tmp/truth" || fail "counts differ"
echo ok
