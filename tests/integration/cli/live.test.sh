#!/bin/bash
# SPDX-License-Identifier: MIT
# list, set, stat and snapshot of a program that runs
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"

code 0 "$BIN/gkhi" list
same "$(cat "$work/err")" "gkhi list: no process of yours was asked for tracing; name one with -p PID"
start "$BIN/ticker" 1000000 500
code 0 "$BIN/gkhi" list -p "$pid" -o HOOK,STATE,EFFECTIVE,CHANNEL,SITES,HITS,LOST --raw
same "$(cat "$work/out")" "HOOK STATE EFFECTIVE CHANNEL SITES HITS LOST
ticker:end disabled disabled  1 0 0
ticker:tick disabled disabled  1 0 0"

code 0 "$BIN/gkhi" set -p "$pid" ticker:tick=static
until_more "$pid" ticker:tick 50
code 0 "$BIN/gkhi" list --json
same "$(jq -r '.hooks[0].children[] | select(.hook == "ticker:tick") | .effective + " " + .channel' "$work/out")" "static main"
same "$(jq '.hooks[0].children | length' "$work/out")" 2

# A mistake changes nothing and says where it is.
code 1 "$BIN/gkhi" set -p "$pid" 'ticker:end=static; ticker:tok=static'
same "$(cat "$work/err")" "gkhi set: $pid: batch:1:27: error: no hook 'ticker:tok'*"
same "$("$BIN/gkhi" list -r -n -o HOOK,STATE | head -1)" "ticker:end disabled"

code 0 "$BIN/gkhi" stat -p "$pid" -i 0.2 -c 2
[ "$(grep -c '^HOOK' "$work/out")" = 2 ] || fail "wanted two tables: $(cat "$work/out")"
grep -q 'main *ring *overwrite' "$work/out" || fail "no channel: $(cat "$work/out")"

# Snapshots while it writes: contiguous, and babeltrace2 agrees on the number.
for i in 1 2 3; do
	code 0 "$BIN/gkhi" snapshot -p "$pid" -o "$work/s$i"
	code 0 "$BIN/gkhi" report --strict --json "$work/s$i"
	jq -s -e '(map(.fields.count) | max - min + 1) == length' "$work/out" >/dev/null || fail "events are missing"
	[ "$(babeltrace2 "$work/s$i" 2>&1 | wc -l)" = "$(wc -l <"$work/out")" ] || fail "babeltrace2 counts otherwise"
done

# Marker, then off: no more events.
code 0 "$BIN/gkhi" set -a 'ticker:tick=marker'
until_more "$pid" ticker:tick "$(hits "$pid" ticker:tick)"
code 0 "$BIN/gkhi" set -p "$pid" '*:* -'
before=$(hits "$pid" ticker:tick)
sleep 0.2
[ "$(hits "$pid" ticker:tick)" = "$before" ] || fail "a hook that is off counts"
