#!/bin/bash
# SPDX-License-Identifier: MIT
# Operands that cannot be read: the event is there, and everyone who looks is told
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# faults PID: as stat shows them, without a request to the process
faults() {
	"$BIN/gkhi" stat -p "$1" --json | jq -n '[inputs] | .[0].hooks[0].children[0].faults'
}

code 0 "$BIN/gkhi" record -o "$work/t" -- "$BIN/faulty" 50
same "$(sed -n 1p "$work/err")" 'gkhi record: 100 operands could not be read: recorded as 0 or "(fault)"'
same "$(tail -1 "$work/err")" "gkhi record: 50 events from 1 process, no event lost, *"
code 0 "$BIN/gkhi" report --json "$work/t"
same "$(jq -r '"\(.fields.value) \(.fields.name)"' "$work/out" | sort -u)" "0 (fault)"
code 0 "$BIN/gkhi" record -o "$work/t" -- "$BIN/ticker" 50
! grep operand "$work/err" || fail "there was none"

start "$BIN/faulty" 1000000 500
code 0 "$BIN/gkhi" set -p "$pid" faulty:follow=marker
for _ in $(seq 200); do
	first=$(faults "$pid")
	[ "$first" -gt 0 ] && break
	sleep 0.05
done
sleep 0.1
[ "$(faults "$pid")" -gt "$first" ] || fail "faults stay at $first"
code 0 "$BIN/gkhi" stat -p "$pid"
grep -q '^HOOK .* FAULTS$' "$work/out" || fail "no column: $(cat "$work/out")"

# Attached: those from then on.
"$BIN/gkhi" record -p "$pid" -o "$work/t" 2>"$work/err" &
recorder=$!
until [ -d "$work/t" ]; do sleep 0.05; done
sleep 0.3
kill -INT $recorder
wait $recorder || fail "record ended with $?"
[[ $(sed -n 's/gkhi record: \([0-9]*\) operands.*/\1/p' "$work/err") -gt 0 ]] || fail "$(cat "$work/err")"
