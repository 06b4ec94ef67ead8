#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that was killed leaves a readable buffer; clean takes it away
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"

start "$BIN/ticker" 1000000 500
code 0 "$BIN/gkhi" set -p "$pid" 'ticker:*=static'
until_more "$pid" ticker:tick 100
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
same "$("$BIN/gkhi" list | sed -n 2p)" "ticker ($pid) dead*"
count=$("$BIN/gkhi" list -r -n -o HOOK,HITS | sed -n 's/^ticker:tick //p')
code 0 "$BIN/gkhi" snapshot "$pid" -o "$work/t" --strict
same "$(cat "$work/err")" "gkhi snapshot: $count events from 1 process, no event lost, * -> $work/t"
code 0 "$BIN/gkhi" report --strict "$work/t"
same "$(tail -1 "$work/out")" "# $count events, no event lost"
[ "$(babeltrace2 "$work/t" 2>&1 | wc -l)" = "$count" ] || fail "babeltrace2 counts otherwise"

# By folder too, wherever it was moved to.
cp -r "$GKHI_DIR" "$work/copy"
code 0 "$BIN/gkhi" snapshot "$(echo "$work"/copy/"$pid"-*)" -o "$work/t2"
cmp "$work"/t/*/metadata "$work"/t2/*/metadata

code 0 "$BIN/gkhi" clean --dry-run
[ -n "$(find "$GKHI_DIR" -name "$pid-*")" ] || fail "a dry run removed it"
code 0 "$BIN/gkhi" clean
same "$(cat "$work/out")" "$GKHI_DIR/$pid-*"
code 1 "$BIN/gkhi" snapshot "$pid" -o "$work/t"
same "$(cat "$work/err")" "gkhi snapshot: no process $pid has buffers in $GKHI_DIR; see 'gkhi list'"
