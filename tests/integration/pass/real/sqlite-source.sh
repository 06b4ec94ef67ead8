#!/bin/bash
# SPDX-License-Identifier: MIT
# SQLite's amalgamation from Debian's source, without any patch: sqlite-source.sh TREE OUT. Made once.
set -euo pipefail
tree=$1 out=$2
mkdir -p "$out"
exec 9>"$out/.lock"
flock 9
[ ! -f "$out/sqlite3.c" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a "$tree/." "$work"
mkdir "$work/made"
cd "$work/made"
{ ../configure --disable-tcl --disable-shared --disable-readline && make sqlite3.c; } >"$out/build.log" 2>&1 || { tail -5 "$out/build.log" >&2; exit 1; }
cp ../test/speedtest1.c sqlite3.h "$out"
cp sqlite3.c "$out/sqlite3.c"
