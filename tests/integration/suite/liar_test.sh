#!/bin/bash
# SPDX-License-Identifier: MIT
# description: pages that lie are found out: a wrong output, a command that fails, a dead link, heading or path
# usage: liar_test.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

caught() { # TEXT COMMAND...: it fails, and says so
	local text=$1
	shift
	if "$@" >"$tmp/out" 2>&1; then
		echo "FAIL: not caught: $text" && exit 1
	fi
	grep -qF -e "$text" "$tmp/out" || { cat "$tmp/out" && echo "FAIL: not said: $text" && exit 1; }
}
# shellcheck disable=SC2016  # Markdown's
page() { printf '```console\n%s\n```\n' "$1" >"$tmp/page.md"; }
pages() { "$source/tests/integration/pages/pages.py" "$tmp" "$build" page.md; }

page $'$ echo one 1; echo two\none 2\ntwo' && pages >"$tmp/out"
page $'$ printf "%s\\n" a b c d\n...\nb\n...\nd' && pages >"$tmp/out"
page $'$ echo one\ntwo' && caught "'echo one' (exit status 0) prints otherwise" pages
page $'$ printf "%s\\n" a b c d\n...\nb\n...\nc' && caught "prints otherwise" pages
page $'$ echo one' && caught "prints otherwise" pages
page '$ false' && caught "'false' ends with 1" pages
page $'$ gkhi list -p 4711\nHOOK STATE EFFECTIVE CHANNEL SITES HITS LOST\nserver (4711)\n|-net:rx static static 1 0 0' && caught "prints otherwise" pages
rm "$tmp/page.md"

mkdir "$tmp/docs"
links() { "$here/links_test.py" "$tmp"; }
printf '# A heading: yes\n[x](#a-heading-yes) [y](docs/y.md#why) docs/y.md\n' >"$tmp/x.md"
printf '## Why?\n[x](../x.md) [away](https://nowhere.invalid/)\n' >"$tmp/docs/y.md"
links >"$tmp/out"
echo '[z](z.md)' >>"$tmp/docs/y.md" && caught "docs/y.md:3: no docs/z.md" links
sed -i 3d "$tmp/docs/y.md"
sed -i 's/## Why/## Whence/' "$tmp/docs/y.md" && caught "x.md:2: no heading '#why' in y.md" links
# shellcheck disable=SC2016
echo 'see `tests/gone.sh`' >"$tmp/x.md" && caught "x.md:1: no tests/gone.sh" links
echo ok
