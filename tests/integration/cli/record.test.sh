#!/bin/bash
# SPDX-License-Identifier: MIT
# record: every event of a command and its children, its exit status, loss, what is there already
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"
trace=$work/t

code 7 "$BIN/gkhi" record -o "$trace" -- "$BIN/ticker" 1000 0 7
same "$(cat "$work/out")" ready
same "$(tail -1 "$work/err")" "gkhi record: 1001 events from 1 process, no event lost, * KiB -> $trace"
code 0 "$BIN/gkhi" report --strict "$trace"
same "$(head -1 "$work/out")" "# tracer: gkhi"
same "$(sed -n 2p "$work/out")" "          ticker-+([0-9]) *\[+([0-9-])\] ..... +([0-9]).+([0-9]): ticker:tick: count=1 phase=busy name=loop"
same "$(tail -2 "$work/out" | head -1)" "*: ticker:end: rounds=1000"
same "$(tail -1 "$work/out")" "# 1001 events, no event lost"
grep -c ' ticker:tick: ' "$work/out" | grep -qx 1000

# The same counts and messages, seen in other ways.
code 0 "$BIN/gkhi" report --stat "$trace"
same "$(sed -n 3p "$work/out")" "ticker:tick *1000 *"
code 0 "$BIN/gkhi" report -m -e ticker:tick "$trace"
same "$(sed -n 2p "$work/out")" "*: ticker:tick: round 1 (busy) of loop"
same "$(tail -1 "$work/out")" "# 1001 events, 1000 shown, no event lost"
code 0 "$BIN/gkhi" report --json "$trace"
same "$(jq -s 'map(select(.event == "tick") | .fields.count) | add' "$work/out")" 500500
[ "$(babeltrace2 "$trace" 2>&1 | wc -l)" = 1001 ] || fail "babeltrace2 counts otherwise"

# Names alone are switched on; a comment ends with its batch.
code 0 "$BIN/gkhi" record -o "$trace" -e 'ticker:end # the last' -e ticker:tick -- "$BIN/ticker" 5
same "$(tail -1 "$work/err")" "gkhi record: 6 events from 1 process, no event lost, *"
code 0 "$BIN/gkhi" record -o "$trace" -e ticker:end -- "$BIN/ticker" 5
same "$(tail -1 "$work/err")" "gkhi record: 1 event from 1 process, no event lost, *"

# Children are recorded too, each as a producer of its own; signals and statuses go through.
# shellcheck disable=SC2016
code 0 "$BIN/gkhi" record -o "$trace" -- sh -c '"$0" 10 & "$0" 20; wait' "$BIN/ticker"
same "$(tail -1 "$work/err")" "gkhi record: 32 events from 2 processes, no event lost, *"
[ "$(find "$trace" -name metadata | wc -l)" = 2 ] || fail "wanted two producers"
[ -d "$trace.old" ] || fail "the older trace is gone"
# shellcheck disable=SC2016
code 137 "$BIN/gkhi" record -o "$trace" -- sh -c 'kill -9 $$'
code 127 "$BIN/gkhi" record -o "$trace" -- /nonexistent
same "$(cat "$work/err")" "gkhi record: cannot run /nonexistent: No such file or directory"

# However the program comes by the runtime, and whatever its hooks are made of.
for program in ticker_static ticker_none ticker_bare; do
	code 0 "$BIN/gkhi" record -o "$trace" -- "$BIN/$program" 10
	same "$(tail -1 "$work/err")" "gkhi record: 11 events from 1 process, no event lost, *"
done

# On a terminal it says how it goes; the line is gone in the end.
script -qec "$BIN/gkhi record -o $trace -- $BIN/ticker 600 1000" "$work/typescript" >/dev/null
grep -q 'events, .*/s, 0 lost, .*, 1 process' "$work/typescript" || fail "no progress: $(cat "$work/typescript")"

# SIGTERM to gkhi reaches the command, and what was recorded stays.
"$BIN/gkhi" record -o "$trace" -- "$BIN/ticker" 1000000 1000 >"$work/out" 2>"$work/err" &
recorder=$!
until grep -q ready "$work/out"; do sleep 0.05; done
sleep 0.3
kill -TERM $recorder
found=0
wait $recorder || found=$?
[ $found = 143 ] || fail "exit status $found, wanted 143"
same "$(tail -1 "$work/err")" "gkhi record: +([0-9]) events from 1 process, no event lost, *"

# Buffers that are too small: loss is exact, loud, and a failure under --strict.
code 3 "$BIN/gkhi" record --strict --subbuf-size 4K --subbufs 4 -o "$trace" -- "$BIN/ticker" 300000
events=$(sed -n 's/^gkhi record: \([0-9]*\) events.*/\1/p' "$work/err")
lost=$(sed -n 's/.*LOST \([0-9]*\) event.*/\1/p' "$work/err")
[ $((events + lost)) = 300001 ] || fail "$events read and $lost lost are not 300001"
code 3 "$BIN/gkhi" report --strict --stat "$trace"
same "$(tail -1 "$work/out")" "# $events events, LOST $lost events: $lost discarded by the producer"

# A disk that is full (here: a limit on the size of files) ends the trace, not the command.
limited() { # COMMAND...
	bash -c 'ulimit -f 2048; trap "" XFSZ; exec "$@"' _ "$BIN/gkhi" record --subbuf-size 64K --subbufs 4 -o "$trace" -- "$@"
}
code 1 limited "$BIN/ticker" 1000000
same "$(cat "$work/err")" "gkhi record: cannot write $trace/*: File too large"
code 7 limited "$BIN/ticker" 1000000 0 7

# Nothing is left behind, and nothing but traces is ever moved away.
[ -z "$(find "$GKHI_DIR" -mindepth 1 ! -name 'clock*')" ] || fail "left behind: $(ls "$GKHI_DIR")"
mkdir "$work/mine" && touch "$work/mine/precious"
code 1 "$BIN/gkhi" record -o "$work/mine" -- true
same "$(cat "$work/err")" "gkhi record: $work/mine holds other things than traces, wanted a new folder"
