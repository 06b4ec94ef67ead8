#!/bin/bash
# SPDX-License-Identifier: MIT
# How long genevent takes for 2 000 events: genevent-time.sh GENEVENT DIR. The best of five; writes DIR/genevent.rows.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
genevent=$1 dir=$2
"$here/gen-many.sh" "$dir/genevent" 1 2000
best=
for _ in 1 2 3 4 5; do
	begin=$(date +%s%N)
	"$genevent" generate --header "$dir/genevent/many00.h" --source "$dir/genevent/many00_events.c" "$dir/genevent/many00.yaml"
	ns=$(($(date +%s%N) - begin))
	if [ -z "$best" ] || [ "$ns" -lt "$best" ]; then best=$ns; fi
done
echo "genevent.2000_events_ms $((best / 1000000)).$(printf '%06d' $((best % 1000000))) ms -" >"$dir/genevent.rows"
