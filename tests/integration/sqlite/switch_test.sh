#!/bin/bash
# SPDX-License-Identifier: MIT
# description: hooks go from static to marker and back while SQLite works, and not one opcode is lost or counted twice.
# usage: switch_test.sh BUILD_DIR SOURCE_DIR
BUILD=$1 SOURCE=$2
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

SQLITE_TRUTH=$tmp/truth "$gkhi" record --event 'sqlite:*=static' -o "$tmp/trace" -- \
	"$example/speedtest1" --size 12 --nosync "$tmp/db" >/dev/null 2>"$tmp/err" &
worker=$!

# The workload is the child of gkhi; it is there once its directory is.
pid=
for _ in $(seq 200); do
	dir=$(find "$GKHI_DIR" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*-*' -printf '%f\n' | head -n 1)
	[ -z "$dir" ] || { pid=${dir%%-*}; break; }
	sleep 0.01
done
[ -n "$pid" ] || { cat "$tmp/err" >&2; fail "the workload made no directory in 2 s"; }

switched=0
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
