#!/bin/bash
# SPDX-License-Identifier: MIT
# A program built without patching is switched, selected, shown and recorded as the same one with it
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"

batches=('ticker:*=static' 'ticker:* -' 'ticker:*=marker' 'ticker:*=static' 'ticker:*=marker' 'ticker:* -' 'ticker:*=on'
	'ticker:* +default' 'file ticker.c +marker' 'file *r.c line 1-1000 func main -' 'func main +static; ticker:end -'
	'line 1-3 +static' 'func nowhere +static' 'module ticker* +on channel=main' 'module libc.so* -'
	'ticker:tick file other.c -' '*:* -')

# told PID BATCH: what gkhi says of it, and what it shows then.
told() {
	"$BIN/gkhi" set -p "$1" "$2" 2>&1 | sed "s/$1/PID/g" || true
	"$BIN/gkhi" list -p "$1" --raw -o HOOK,STATE,EFFECTIVE,CHANNEL,SITES
}

# events PROGRAM: of a whole run.
events() {
	"$BIN/gkhi" record -o "$work/t" -- "$BIN/$1" 100 >/dev/null 2>"$work/err"
	"$BIN/gkhi" report --json "$work/t" | jq -c '[.event, .fields]'
}

for kind in ticker ticker_bare; do
	start "$BIN/$kind" 1000000 500
	patching=$pid
	start "$BIN/${kind}_loading" 1000000 500
	for batch in "${batches[@]}"; do
		told "$patching" "$batch" >"$work/patching"
		told "$pid" "$batch" | diff "$work/patching" - || fail "$kind: $batch"
	done
	code 0 "$BIN/gkhi" set -p "$pid" 'file ticker.c +marker'
	until_more "$pid" ticker:tick 10
	events "$kind" >"$work/patching"
	events "${kind}_loading" | cmp - "$work/patching" || fail "other events: $(cat "$work/err")"
	[ "$(wc -l <"$work/patching")" = 101 ] || fail "wanted 101 events"
done
