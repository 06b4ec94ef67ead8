#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetch single files of Debian's kernel source: fetch-kernel-source.sh 6.1|6.12 FILE...
#
# Prints the folder that has the files, under their paths in the kernel's tree. The package (140 MB) comes from the system's
# own apt sources, checked by apt; only what was asked for is kept, since the whole tree takes 1.3 GB.
#
#   GKHI_SRC_DIR   where the folder goes (default: build/src)
set -euo pipefail

die() { echo "fetch-kernel-source.sh: $*" >&2; exit 1; }

[ $# -ge 2 ] || die "found $# arguments; wanted 6.1 or 6.12, and files"
version=$1
shift
case $version in
6.1 | 6.12) ;;
*) die "unknown version '$version'; wanted 6.1 or 6.12" ;;
esac

top=$(cd "$(dirname "$0")/.." && pwd)
src=${GKHI_SRC_DIR:-$top/build/src}
package=linux-source-$version
mkdir -p "$src"
exec 9>"$src/.$package.lock"
flock 9

missing=()
for file in "$@"; do
	[ -f "$src/$package/$file" ] || missing+=("$package/$file")
done
if [ ${#missing[@]} != 0 ]; then
	work=$(mktemp -d "$src/.fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	(cd "$work" && apt-get -q -o "APT::Sandbox::User=$(id -un)" download "$package") >"$work/log" 2>&1 ||
		{ tail -5 "$work/log" >&2; die "cannot fetch $package; apt-get update may help"; }
	# tar ends at the last file that is wanted: what writes into it may then complain of a broken pipe.
	(set +o pipefail
		dpkg-deb --fsys-tarfile "$work"/*.deb 2>"$work/log" | tar -xO "./usr/src/$package.tar.xz" 2>>"$work/log" |
			tar -xJ -C "$work" --occurrence=1 "${missing[@]}") || { cat "$work/log" >&2; die "$package lacks some of: ${missing[*]}"; }
	mkdir -p "$src/$package"
	cp -r "$work/$package/." "$src/$package/"
fi
echo "$src/$package"
