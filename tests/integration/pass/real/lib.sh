# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What the tests on real programs share. Wants: BUILD INCLUDE VERSION as arguments of the test.
set -euo pipefail
build=$1 include=$2 version=$3
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
here=$top/tests/integration/pass/real
bin=$build/bin
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
export GKHI_DIR=$tmp/gkhi LD_LIBRARY_PATH=$build/lib
export GKHI_SRC_DIR=${GKHI_SRC_DIR:-$top/build/src}
cc=("$bin/gkhi-cc" "--gkhi-sites=$tmp/sites.h" "clang-$version")

die() {
	echo "FAILED: $*"
	exit 1
}

fetch() { # PACKAGE: the tree, or the test is skipped with the reason
	"$top/scripts/fetch-source.sh" "$1" 2>fetch.txt || { echo "skipped: no source of $1: $(tail -1 fetch.txt)" >&2; exit 77; }
}

generate() { # NAME: $here/NAME.yaml to gkhi_NAME.h, gkhi_NAME.c, sites.h
	"$bin/genevent" generate "$here/$1.yaml" --header "gkhi_$1.h" --source "gkhi_$1.c" --sites sites.h
}

to_file() { # PATTERN FILE: the batch that traces these hooks as lines
	echo "channel out backend=printk target=$2 rate=0; $1=marker channel=out"
}
