#!/bin/bash
# SPDX-License-Identifier: MIT
# a folder that one gkhi writes a trace to is nobody else's; what is left of a trace that never began is in nobody's way
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"
trace=$work/t

# While one records, others are refused before anything is started or moved.
"$BIN/gkhi" record -o "$trace" -- "$BIN/ticker" 1000000 500 >/dev/null 2>"$work/first" &
recorder=$!
pids+=("$recorder")
for _ in $(seq 200); do
	[ -n "$(find "$trace" -name metadata 2>/dev/null)" ] && break
	sleep 0.05
done
for other in "record -o $trace -- touch $work/started" "record -o $trace/ -- touch $work/started"; do
	# shellcheck disable=SC2086
	code 1 "$BIN/gkhi" $other
	same "$(cat "$work/err")" "gkhi record: another gkhi writes a trace to $trace*"
done
[ ! -e "$work/started" ] || fail "the command was started"
[ ! -e "$trace.old" ] || fail "the trace was moved away"
child=$("$BIN/gkhi" list --raw --noheadings -o PID | head -1)
code 1 "$BIN/gkhi" record -p "$child" -o "$trace"
code 1 "$BIN/gkhi" snapshot -p "$child" -o "$trace"
same "$(cat "$work/err")" "gkhi snapshot: another gkhi writes a trace to $trace"
kill -TERM "$recorder"
found=0
wait "$recorder" || found=$?
[ "$found" = 143 ] || fail "exit status $found, wanted 143: $(cat "$work/first")"
code 0 "$BIN/gkhi" report --strict --stat "$trace"

# The lock goes with its owner, also one that was killed; the older trace is kept.
"$BIN/gkhi" record -o "$trace" -- sleep 100 2>/dev/null &
recorder=$!
for _ in $(seq 200); do
	[ -e "$trace.old" ] && [ -n "$(pgrep -P "$recorder")" ] && break
	sleep 0.05
done
pids+=("$(pgrep -P "$recorder")")
kill -KILL "$recorder"
wait "$recorder" || true
code 0 "$BIN/gkhi" record -o "$trace" -- "$BIN/ticker" 3
same "$(tail -1 "$work/err")" "gkhi record: 4 events from 1 process, no event lost, *"

# Of several at one instant one wins, and its trace is whole.
race=$work/race
runs=()
for i in 1 2 3 4; do
	# shellcheck disable=SC2016
	"$BIN/gkhi" record -o "$race" -- sh -c 'until [ -e "$0" ]; do sleep 0.05; done; exec "$1" 300' \
		"$work/go" "$BIN/ticker" >/dev/null 2>"$work/race.$i" &
	runs+=("$!")
done
for _ in $(seq 200); do
	[ "$(cat "$work"/race.? | wc -l)" = 3 ] && break
	sleep 0.05
done
touch "$work/go"
won=0
for i in 1 2 3 4; do
	if wait "${runs[i - 1]}"; then
		won=$((won + 1))
	else
		same "$(cat "$work/race.$i")" "gkhi record: another gkhi writes a trace to $race"
	fi
done
[ "$won" = 1 ] || fail "$won of 4 wrote to one folder"
code 0 "$BIN/gkhi" report --strict "$race"
same "$(tail -1 "$work/out")" "# 301 events, no event lost"

# A folder of a trace that never began.
mkdir "$race/ticker-1"
rm -rf "$race.old"
code 0 "$BIN/gkhi" record -o "$race" -- "$BIN/ticker" 3
[ -d "$race.old/ticker-1" ] || fail "not moved"
mkdir "$race/ticker-1" && touch "$race/ticker-1/precious"
code 1 "$BIN/gkhi" record -o "$race" -- "$BIN/ticker" 3
same "$(cat "$work/err")" "gkhi record: $race holds other things than traces, wanted a new folder"
