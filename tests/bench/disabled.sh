#!/bin/bash
# SPDX-License-Identifier: MIT
# What a hook that is off costs in real code, by instruction count: disabled.sh DIR HEADER_DIR HEADER INCLUDE_DIR...
#
# lookup.c is built with and without hooks by every compiler there is and counted by callgrind, which is exact where time is
# not: instructions of 2N operations less those of N, so that start-up counts for nothing. Writes DIR/disabled.rows.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$1 header_dir=$2 header=$3
shift 3
rows=$dir/disabled.rows
: >"$rows"
if ! command -v valgrind >/dev/null; then
	echo "user.disabled - skipped: no valgrind here" >"$rows"
	exit 0
fi
includes=(-I"$header_dir")
for i in "$@"; do includes+=(-I"$i"); done

instructions() { # PROGRAM OPERATIONS
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" 2>&1 >/dev/null | sed -nE 's/.*Collected : ([0-9]+).*/\1/p'
}

n=20000
worst=
for cc in gcc clang-14 clang-16 clang-19; do
	command -v $cc >/dev/null || { echo "user.disabled.$cc - skipped: no $cc here" >>"$rows"; continue; }
	$cc -O2 -o "$dir/lookup-$cc" "$here/lookup.c"
	$cc -O2 -DLOOKUP_HOOKED -DLOOKUP_HEADER="\"$header\"" "${includes[@]}" -o "$dir/lookup-$cc-hooked" "$here/lookup.c"
	hooks=$(($("$dir/lookup-$cc" $((2 * n))) - $("$dir/lookup-$cc" $n)))
	bare=$(($(instructions "$dir/lookup-$cc" $((2 * n))) - $(instructions "$dir/lookup-$cc" $n)))
	hooked=$(($(instructions "$dir/lookup-$cc-hooked" $((2 * n))) - $(instructions "$dir/lookup-$cc-hooked" $n)))
	cost=$(awk -v a=$hooked -v b=$bare -v h=$hooks 'BEGIN { printf "%.3f", (a - b) / h }')
	echo "user.disabled.$cc $cost instructions/hook -" >>"$rows"
	echo "$cc: $((bare / n)) instructions per operation, $((hooked / n)) with $(awk -v h=$hooks -v n=$n 'BEGIN { printf "%.2f", h / n }') hooks: $cost per hook"
	if [ -z "$worst" ] || awk -v a="$cost" -v b="$worst" 'BEGIN { exit !(a > b) }'; then worst=$cost; fi
done
echo "user.disabled ${worst:-- skipped: no compiler here}${worst:+ instructions/hook -}" >>"$rows"
