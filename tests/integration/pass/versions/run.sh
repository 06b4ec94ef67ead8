#!/bin/bash
# SPDX-License-Identifier: MIT
# A `site:` file that fits one release of a program and not the next: run.sh BIN VERSION
# The second build stops; every error names the place in the YAML and the one in the source (new.txt has the words).
set -euo pipefail
bin=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
cp "$here/server.yaml" .
"$bin/genevent" sites server.yaml -o sites.h

build() { # RELEASE
	cp "$here/$1.c" server.c
	rm -f server.o
	"$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$version" -O2 -fno-color-diagnostics -c server.c -o server.o
}

build old
"$bin/gkhi" map --check server.yaml server.o
if build new >out.txt 2>&1; then
	echo "FAILED: release 2 compiles"
	exit 1
fi
[ ! -e server.o ] || { echo "FAILED: and yet there is an object file"; exit 1; }
sed -E -e "s,$tmp/,,g" -e 's/^ *[0-9]* \| //' out.txt >found.txt
[ -z "${GKHI_UPDATE:-}" ] || cp found.txt "$here/new.txt"
diff -u "$here/new.txt" found.txt
