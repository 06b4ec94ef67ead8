#!/bin/bash
# SPDX-License-Identifier: MIT
# Golden headers and sources compile, cleanly, as C11, C++20 and kernel C: compile.sh SOURCE_DIR
set -euo pipefail

top=$1
golden=$top/tests/golden/genevent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
include="-I$top/hooks/include -I$golden/pass"
uses=$golden/compile/uses.c
failed=0

fail() { echo "FAILED: $*"; failed=1; }

# shellcheck disable=SC2086
user_space() {
	local cc=$1 options file
	for options in "-O0 -fPIE" "-O0 -fno-omit-frame-pointer -fPIC -fstack-protector-all" "-O2" "-O3 -fPIC" \
		"-O2 -DGKHI_NO_PATCHING" "-O2 -DGKHI_CONFIG_OFF"; do
		$cc -std=c11 $strict $include $options -c "$uses" -o "$work/uses.o" || fail "$cc -std=c11 $options uses.c"
		$cc -x c++ -std=c++20 $strict $include $options -c "$uses" -o "$work/uses++.o" ||
			fail "$cc -std=c++20 $options uses.c"
	done
	for file in "$golden"/pass/*.c; do
		$cc -std=c11 $strict $include -O2 -c "$file" -o "$work/$(basename "$file" .c).o" || fail "$cc $file"
		$cc -std=c11 $strict $include -DGKHI_CONFIG_OFF -O2 -c "$file" -o "$work/off.o" || fail "$cc OFF $file"
	done
}

# Configured out, the text is that of the source without hooks.
# shellcheck disable=SC2086
configured_out() {
	local cc=$1 options
	for options in -O0 -O2; do
		$cc $include $options -DGKHI_CONFIG_OFF -c "$uses" -o "$work/off.o"
		$cc $include $options -DUNHOOKED -c "$uses" -o "$work/unhooked.o"
		objcopy -O binary -j .text "$work/off.o" "$work/off.text"
		objcopy -O binary -j .text "$work/unhooked.o" "$work/unhooked.text"
		cmp "$work/off.text" "$work/unhooked.text" || fail "$cc $options: text with hooks configured out differs"
		! nm "$work/off.o" | grep -q gkhi || fail "$cc $options: symbols of gkhi although configured out"
	done
}

# A wrong argument is an error whether hooks are in or out.
# shellcheck disable=SC2086
checked_arguments() {
	local cc=$1 off call
	for off in "" -DGKHI_CONFIG_OFF; do
		for call in 'gkhi_netdemo_rx("text", 1, "eth0", 0)' 'gkhi_netdemo_rx(1, 2, 3, 0)' 'gkhi_netdemo_rx(1, 2, "eth0")' \
			'gkhi_netdemo_rx(1, 2, "eth0", &(struct { int x; }){ 1 })'; do
			printf '#include "netdemo.h"\nvoid f(void) { %s; }\n' "$call" >"$work/wrong.c"
			! $cc -std=c11 -Werror $include $off -c "$work/wrong.c" -o "$work/wrong.o" 2>/dev/null ||
				fail "$cc $off accepts $call"
		done
		printf '#include "netdemo.h"\nvoid f(void) { gkhi_netdemo_rx(1, 2, "eth0", 0); }\n' >"$work/right.c"
		$cc -std=c11 -Werror $include $off -c "$work/right.c" -o "$work/right.o" || fail "$cc $off refuses a right call"
	done
}

# shellcheck disable=SC2086
kernel_c() {
	local cc=$1
	$cc -std=gnu11 -nostdinc -ffreestanding -D__KERNEL__ -Wall -Wextra -Wdeclaration-after-statement -Wvla \
		-Werror -mno-sse -mno-mmx -O2 -I"$golden/compile/kernel" $include -c "$golden/compile/kernel.c" \
		-o "$work/kernel.o" || fail "$cc: kernel C"
}

# Descriptors survive --gc-sections with every linker.
# shellcheck disable=SC2086
collected() {
	local cc=$1 linker=$2 n
	echo 'int main(void) { return 0; }' >"$work/main.c"
	$cc $include -O2 -ffunction-sections -fdata-sections "$work/main.c" "$golden/pass/netdemo.c" "$golden/pass/words.c" \
		-fuse-ld="$linker" -Wl,--gc-sections -o "$work/gc" || fail "$cc $linker"
	n=$(readelf -SW "$work/gc" | awk '$2 == "gkhi_events" || $3 == "gkhi_events" { for (i = 1; i <= NF; i++) if ($i == "gkhi_events") print $(i + 4) }')
	[ $((16#${n:-0})) = $((8 * 88)) ] || fail "$cc $linker: gkhi_events has 0x${n:-0} bytes, wanted 8 events of 88"
	"$work/gc" || fail "$cc $linker: the program does not run"
}

for cc in gcc clang-14 clang-16 clang-19; do
	command -v $cc >/dev/null || { fail "$cc is missing (scripts/install-packages.sh test)"; continue; }
	user_space $cc
	configured_out $cc
	checked_arguments $cc
	kernel_c $cc
done
collected gcc bfd
for version in 14 16 19; do collected clang-$version lld; done
[ $failed = 0 ] && echo "all compiled"
exit $failed
