#!/bin/bash
# SPDX-License-Identifier: MIT
# record -p: takes a running process in, leaves its hooks as they were
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"
trace=$work/t

for agent in none thread; do
	GKHI_AGENT=$agent start "$BIN/ticker" 1000000 1000
	code 0 "$BIN/gkhi" set -p "$pid" 'ticker:end=marker'
	"$BIN/gkhi" record -p "$pid" -e 'ticker:*=static' -o "$trace" 2>"$work/err" &
	recorder=$!
	until_more "$pid" ticker:tick 100
	same "$("$BIN/gkhi" list -p "$pid" -r -n -o HOOK,STATE,CHANNEL)" "ticker:end static record-*ticker:tick static record-*"
	kill -INT $recorder
	wait $recorder || fail "record -p failed: $(cat "$work/err")"
	same "$(tail -1 "$work/err")" "gkhi record: +([0-9]) events from 1 process, no event lost, * -> $trace"
	same "$("$BIN/gkhi" list -p "$pid" -r -n -o HOOK,STATE,CHANNEL)" "ticker:end marker main*ticker:tick disabled *"
	# No event is missing between the first and the last.
	code 0 "$BIN/gkhi" report --strict --json "$trace"
	jq -s -e '(map(.fields.count) | max - min + 1) == length' "$work/out" >/dev/null || fail "events are missing"
	code 0 "$BIN/gkhi" stat -p "$pid"
	[[ $(cat "$work/out") != *record-* ]] || fail "the channel stayed: $(cat "$work/out")"
	kill -9 "$pid"
done

# Until the process ends by itself.
start "$BIN/ticker" 1000 1000
code 0 "$BIN/gkhi" record -p "$pid" -o "$trace"
same "$(tail -1 "$work/err")" "gkhi record: +([0-9]) events from 1 process, no event lost, *"
code 0 "$BIN/gkhi" report "$trace"
same "$(tail -2 "$work/out" | head -1)" "*: ticker:end: rounds=1000"
