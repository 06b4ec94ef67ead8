#!/bin/bash
# SPDX-License-Identifier: MIT
# Untouched zlib: the trace equals what a debugger sees, and is the same at -O0 and -O3.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
source=$(fetch zlib)
generate zlib
objects="adler32 crc32 deflate trees zutil inflate inftrees inffast infback compress uncompr"

build_zlib() { # NAME FLAG...: with the pass
	local name=$1 object
	shift
	mkdir -p "$name"
	for object in $objects; do "${cc[@]}" "$@" -w -I"$source" -c "$source/$object.c" -o "$name/$object.o"; done
	"${cc[@]}" "$@" -I"$include" -c gkhi_zlib.c -o "$name/gkhi_zlib.o"
	"clang-$version" "$@" -I"$source" "$here/zlib_main.c" "$name"/*.o -o "$name/zlib"
	"$bin/gkhi" map --check "$here/zlib.yaml" "$name/zlib"
}

trace() { # NAME INPUT: the events, without pointers; the program's own words to NAME.out
	rm -f "$1.raw"
	GKHI=$(to_file 'zlib:*' "$tmp/$1.raw") "$1/zlib" "$2" >"$1.out"
	sed -E 's/ strm=0x[0-9a-f]+//' "$1.raw" >"$1.events"
}

build_zlib O0 -O0
build_zlib O3 -O3
cat "$source"/{deflate,trees,inflate}.c >large.txt
head -c 30000 "$source/deflate.c" >small.txt

# 1. All levels agree, hooks change nothing, and zlib's own counters agree with the trace.
for name in O0 O3; do
	trace "$name" large.txt
	[ "$("$name/zlib" large.txt)" = "$(cat "$name.out")" ] || die "$name: the output changes with the hooks"
	calls=$(sed -E 's/calls=([0-9]+).*/\1/' "$name.out")
	[ "$calls" = "$(grep -c '^zlib:deflate:' "$name.events")" ] || die "$name: $calls calls, and other events"
	[ "$calls" = "$(grep -c '^zlib:done:' "$name.events")" ] || die "$name: $calls calls, and other returns"
	out=$(sed -E 's/.* out=([0-9]+) .*/\1/' "$name.out")
	[ "$(tail -1 "$name.events")" = "zlib:done: ret=1 total_out=$out" ] || die "$name: the last return is $(tail -1 "$name.events")"
done
cmp O0.events O3.events || die "-O0 and -O3 tell different things"
[ "$(wc -l <O3.events)" -gt 10000 ] || die "only $(wc -l <O3.events) events"

# 2. A debugger on a build without the pass says the same, event by event.
if command -v gdb >/dev/null; then
	mkdir plain
	for object in $objects; do "clang-$version" -O0 -g -w -I"$source" -c "$source/$object.c" -o "plain/$object.o"; done
	"clang-$version" -O0 -g -I"$source" "$here/zlib_main.c" plain/*.o -o plain/zlib
	start=$(grep -n 'block_state deflate_slow(s, flush)' "$source/deflate.c" | tail -1 | cut -d: -f1)
	call=$(awk -v start="$start" 'NR > start && /longest_match *\(s, hash_head\)/ {print NR; exit}' "$source/deflate.c")
	next=$(awk -v call="$call" 'NR > call && /if \(s->match_length/ {print NR; exit}' "$source/deflate.c")
	timeout 400 gdb -q -nx -batch -ex "set \$call_line=$call" -ex "set \$next_line=$next" -x "$here/zlib.gdb" \
		--args plain/zlib small.txt >gdb.raw 2>&1 || { tail gdb.raw; die "gdb failed"; }
	grep '^zlib:' gdb.raw >gdb.events
	trace O3 small.txt
	grep -v '^zlib:done' O3.events >O3.small
	diff gdb.events O3.small >diff.txt || { head diff.txt; die "the debugger (<) and the trace (>) differ"; }
	[ "$(wc -l <gdb.events)" -gt 500 ] || die "the debugger saw only $(wc -l <gdb.events) events"
	echo "equal to the debugger: $(wc -l <gdb.events) events"
else
	echo "skipped: no gdb to compare with"
fi
echo "zlib with clang $version: $(wc -l <O0.events) events, equal at -O0 and -O3"
