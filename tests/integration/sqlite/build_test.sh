#!/bin/bash
# SPDX-License-Identifier: MIT
# description: SQLite fetched, patched and built with hooks; the other tests of this folder need it (a fixture).
# usage: build_test.sh BUILD_DIR SOURCE_DIR. Skips (77) when the source is not cached and no mirror can be reached.
set -euo pipefail
build=$1 source=$2
if ! GKHI_SRC_DIR=$build/src "$source/scripts/fetch-source.sh" sqlite3 >"$build/sqlite-fetch.log" 2>&1; then
	echo "skipped: Debian's source package sqlite3 cannot be fetched: $(tail -n 1 "$build/sqlite-fetch.log")"
	exit 77
fi
GKHI_SRC_DIR=$build/src cmake --build "$build" --target sqlite-example
