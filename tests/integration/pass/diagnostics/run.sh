#!/bin/bash
# SPDX-License-Identifier: MIT
# Every diagnostic of the pass, text and caret, in one release of clang: run.sh BIN VERSION [CASE]...
# GKHI_UPDATE=1 writes what was found as what is wanted.
set -euo pipefail
bin=$(cd "$1" && pwd)
version=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

compile() { # CASE: the compiler's words, without what differs between machines
	local name=$1 status=0
	cp "$here/$name".[cy]* "$tmp"
	"$bin/genevent" sites "$tmp/$name.yaml" -o "$tmp/sites.h"
	(cd "$tmp" && "$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$version" -O1 -fno-color-diagnostics -c "$name.c" -o "$name.o") \
		>"$tmp/out.txt" 2>&1 || status=$?
	# Clang 17 and later put line numbers in front of the source.
	sed -E -e "s,$tmp/,,g" -e 's/^ *[0-9]* \| //' "$tmp/out.txt"
	echo "exit status $status"
	[ "$status" = 0 ] || [ ! -e "$tmp/$name.o" ] || echo "and yet there is an object file"
}

cases=("$@")
[ $# -gt 0 ] || for yaml in "$here"/*.yaml; do cases+=("$(basename "$yaml" .yaml)"); done
for name in "${cases[@]}"; do
	compile "$name" >"$tmp/found.txt"
	[ -z "${GKHI_UPDATE:-}" ] || cp "$tmp/found.txt" "$here/$name.txt"
	if diff -u "$here/$name.txt" "$tmp/found.txt"; then
		echo "ok $name"
	else
		echo "FAILED $name (clang $version)"
		failed=1
	fi
done
exit $failed
