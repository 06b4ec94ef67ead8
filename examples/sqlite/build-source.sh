#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetch SQLite's Debian source, apply sqlite.patch, make the amalgamation: build-source.sh OUT_DIR
#
# The patch is against src/*.c, as SQLite's developers would write it, and the package's own tools then make sqlite3.c from the
# patched files. Line macros are on, so that the map names src files and their lines.
# Leaves OUT_DIR/{sqlite3.c,sqlite3.h,shell.c,speedtest1.c}.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1

die() { echo "build-source.sh: $*" >&2; exit 1; }
run() { "$@" >"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log" >&2; die "'$*' failed (whole log: $out/build.log)"; }; }

source=$("$here/../../scripts/fetch-source.sh" sqlite3)
rm -rf "$out/tree"
mkdir -p "$out/tree"
cp -a "$source/." "$out/tree"
run patch -d "$out/tree" -p1 --forward -i "$here/sqlite.patch"

mkdir -p "$out/tree/gkhi-build"
cd "$out/tree/gkhi-build"
run ../configure --disable-tcl --disable-shared --disable-readline
run make sqlite3.c shell.c AMALGAMATION_LINE_MACROS=--linemacros=1
"$here/check-opcodes.sh" opcodes.h
cp sqlite3.c sqlite3.h shell.c ../test/speedtest1.c "$out"
