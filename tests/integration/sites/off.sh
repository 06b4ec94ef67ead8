#!/bin/bash
# SPDX-License-Identifier: MIT
# Configured out, a hooked source is byte for byte the unhooked one; not configured out but without
# a runtime, the program computes the same and makes no file.
#
#   off.sh CC CXX -- FLAG...
#
# Environment: as for matrix.sh.
set -uo pipefail

cc=$1 cxx=$2
shift 3
for tool in "$cc" "$cxx"; do
	command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed" && exit 77; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
include=("-I$SITES_GENERATED" "-I$SITES_SOURCE")
for i in ${SITES_INCLUDE//:/ }; do include+=("-I$i"); done

build() { # NAME FLAG...
	local name=$1 source
	shift
	mkdir -p "$work/$name"
	for source in plain_main.c work_c.c work_unit.c; do
		"$cc" -std=gnu11 "$@" "${include[@]}" -c "$SITES_SOURCE/$source" -o "$work/$name/$source.o" || exit 1
	done
	for source in work_cxx.cc work_cxx2.cc; do
		"$cxx" -std=gnu++20 "$@" "${include[@]}" -c "$SITES_SOURCE/$source" -o "$work/$name/$source.o" || exit 1
	done
}

build unhooked "$@" -DSITES_UNHOOKED -w
build off "$@" -DGKHI_CONFIG_OFF -w
build on "$@" -w
"$cc" -std=gnu11 "$@" "${include[@]}" -c "$SITES_GENERATED/gkhi_sites.c" -o "$work/on/descriptors.o" || exit 1

bad=0
for object in "$work"/unhooked/*.o; do
	name=$(basename "$object")
	# Every allocated section, text, data and their relocations; the names of functions are part of none.
	for side in unhooked off; do
		objdump -dr --no-addresses --no-show-raw-insn "$work/$side/$name" | sed 1,3d >"$work/$side.dis"
		objdump -h "$work/$side/$name" | awk '$2 ~ /^\./ && $2 !~ /debug|comment|note/ {print $2, $3}' >"$work/$side.sections"
		objcopy -O binary --only-section=.text "$work/$side/$name" "$work/$side.text"
	done
	cmp "$work/unhooked.text" "$work/off.text" || { echo "off: .text of $name differs" && bad=1; }
	cmp "$work/unhooked.dis" "$work/off.dis" || { echo "off: the code of $name differs" && bad=1; }
	cmp "$work/unhooked.sections" "$work/off.sections" || { echo "off: the sections of $name differ" && bad=1; }
	# The comparison can fail: with hooks the text is another.
	objcopy -O binary --only-section=.text "$work/on/$name" "$work/on.text"
	if [ "$name" = work_c.c.o ] && cmp -s "$work/unhooked.text" "$work/on.text"; then
		echo "off: hooked and unhooked $name are equal, so the comparison shows nothing"
		bad=1
	fi
done

for side in unhooked off on; do
	"$cxx" "$@" "$work/$side"/*.o -o "$work/$side/program" || exit 1
	mkdir "$work/$side/dir"
	GKHI_DIR=$work/$side/dir "$work/$side/program" >"$work/$side/sum" || bad=1
	[ -z "$(ls -A "$work/$side/dir")" ] || { echo "off: $side made files" && bad=1; }
	cmp "$work/unhooked/sum" "$work/$side/sum" || { echo "off: $side computes something else" && bad=1; }
done
exit $bad
