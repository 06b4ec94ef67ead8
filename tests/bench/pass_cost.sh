#!/bin/bash
# SPDX-License-Identifier: MIT
# What a disarmed marker of the clang pass costs in hot loops, by instruction count: pass_cost.sh DIR BIN_DIR
#
# pass_hot.c is built with and without markers by every clang there is and counted by callgrind: instructions of 2N rounds less
# those of N. A marker is one nop, and one more where it would cross eight bytes. Writes DIR/pass.rows.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$1 bin=$2
rows=$dir/pass.rows
: >"$rows"
if ! command -v valgrind >/dev/null; then
	echo "user.pass_disabled - skipped: no valgrind here" >"$rows"
	exit 0
fi
"$bin/genevent" generate "$here/pass_hot.yaml" --sites "$dir/pass_hot_sites.h"

instructions() { # PROGRAM ROUNDS
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" 2>&1 >/dev/null | sed -nE 's/.*Collected : ([0-9]+).*/\1/p'
}

n=20000
worst=
for version in 14 16 19; do
	row=user.pass_disabled.clang-$version
	command -v "clang-$version" >/dev/null || { echo "$row - skipped: no clang-$version here" >>"$rows"; continue; }
	[ -f "$bin/../lib/gkhi-pass-$version.so" ] || { echo "$row - skipped: no gkhi-pass-$version.so" >>"$rows"; continue; }
	plain=$dir/hot-$version hooked=$dir/hot-$version-hooked
	"clang-$version" -O2 -fno-unroll-loops "$here/pass_hot.c" -o "$plain"
	"$bin/gkhi-cc" "--gkhi-sites=$dir/pass_hot_sites.h" "clang-$version" -O2 -fno-unroll-loops "$here/pass_hot.c" -o "$hooked"
	[ "$("$plain" $n)" = "$("$hooked" $n)" ] || { echo "pass_cost.sh: the markers change the result" >&2; exit 1; }
	a=$(($(instructions "$plain" $((2 * n))) - $(instructions "$plain" $n)))
	b=$(($(instructions "$hooked" $((2 * n))) - $(instructions "$hooked" $n)))
	cost=$(awk -v a=$a -v b=$b -v n=$n 'BEGIN { printf "%.3f", (b - a) / n }')
	echo "$row $cost instructions/hook 1" >>"$rows"
	echo "clang-$version: $((a / n)) instructions per round, $((b / n)) with a marker: $cost more"
	if [ -z "$worst" ] || awk -v a="$cost" -v b="$worst" 'BEGIN { exit !(a > b) }'; then worst=$cost; fi
done
echo "user.pass_disabled ${worst:-- skipped: no clang here}${worst:+ instructions/hook 1}" >>"$rows"
