#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the matrix program with one compiler and one set of flags, runs it through all states of
# its hooks and compares what they said with expected.log.
#
#   matrix.sh CC CXX [--std STD] [--strip] [--gone SYMBOL] [--no-patching] [--cannot-link PATTERN] -- FLAG...
#
# Environment: SITES_SOURCE, SITES_GENERATED, SITES_INCLUDE, SITES_HARNESS, SITES_HARNESS_PLAIN.
# Exit 77 is "skipped", with the reason on the last line.
set -uo pipefail

cc=$1 cxx=$2
shift 2
std=gnu++20 strip='' gone='' harness=$SITES_HARNESS expected=$SITES_SOURCE/expected.log cannot=''
define=()
while [ $# != 0 ]; do
	case $1 in
	--std) std=$2 && shift ;;
	--strip) strip=1 ;;
	--gone) gone=$2 && shift ;;
	--no-patching) harness=$SITES_HARNESS_PLAIN define=(-DGKHI_NO_PATCHING) ;;
	--cannot-link) cannot=$2 && shift ;;
	--) shift && break ;;
	*) echo "matrix.sh: unknown option $1" && exit 2 ;;
	esac
	shift
done
for tool in "$cc" "$cxx"; do
	command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed" && exit 77; }
done

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
launcher=()
command -v ccache >/dev/null && launcher=(ccache)
include=("-I$SITES_GENERATED" "-I$SITES_SOURCE")
for i in ${SITES_INCLUDE//:/ }; do include+=("-I$i"); done
warn=(-Wall -Wextra -Werror -Wno-unused-command-line-argument)

compile() { # COMPILER SOURCE FLAG...
	local compiler=$1 source=$2 object
	shift 2
	object=$work/$(basename "$source").o
	(cd "$work" && "${launcher[@]}" "$compiler" "$@" "${define[@]}" "${warn[@]}" "${include[@]}" -c "$source" -o "$object") ||
		{ echo "matrix: $compiler does not compile $(basename "$source") with $*" && exit 1; }
}

for source in main.c work_c.c work_unit.c; do compile "$cc" "$SITES_SOURCE/$source" -std=gnu11 "$@"; done
compile "$cc" "$SITES_GENERATED/gkhi_sites.c" -std=gnu11 "$@"
for source in work_cxx.cc work_cxx2.cc; do compile "$cxx" "$SITES_SOURCE/$source" "-std=$std" "$@"; done

if ! "$cxx" "$@" "$work"/*.o "$harness" -o "$work/program" 2>"$work/link.log"; then
	if [ -n "$cannot" ] && grep -q -e "$cannot" "$work/link.log"; then
		echo "skipped: $cc cannot link this here: $(grep -m1 -e "$cannot" "$work/link.log")"
		exit 77
	fi
	cat "$work/link.log"
	exit 1
fi
if [ -n "$gone" ] && nm "$work/program" | grep -q " $gone\$"; then
	echo "matrix: the linker kept $gone, which nobody calls: its hook's records hold it"
	exit 1
fi
if readelf -d "$work/program" | grep -q TEXTREL; then
	echo "matrix: the program has relocations in its text"
	exit 1
fi
[ -z "$strip" ] || strip "$work/program" || exit 1
timeout 60 "$work/program" log >"$work/log" || { echo "matrix: the program failed, exit code $?" && exit 1; }
diff "$expected" "$work/log" && exit 0
echo "matrix: the hooks said something else than expected.log (>)"
exit 1
