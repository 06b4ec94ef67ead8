# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the tests of this folder share: a folder of their own, and the names of things. Sourced after BUILD and SOURCE are set.
set -euo pipefail
export gkhi=$BUILD/bin/gkhi
example=$BUILD/examples/sqlite
if [ ! -x "$example/speedtest1" ]; then
	echo "skipped: $example/speedtest1 was not built (see sqlite.build)"
	exit 77
fi
# On a memory file system where there is one: the workload forces every commit to the disk.
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gkhi-sqlite.XXXXXX")
worker=
cleanup() {
	[ -z "$worker" ] || kill "$worker" 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT
mkdir -m 700 "$tmp/gkhi"
export GKHI_DIR=$tmp/gkhi
fail() { echo "FAIL: $*" >&2; exit 1; }

# The workload's results without the times it took and the folder's name.
results() { sed -E 's/[0-9]+\.[0-9]{3}s//; /TOTAL/d; /^-- /d' "$1"; }
