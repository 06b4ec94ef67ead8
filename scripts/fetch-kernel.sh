#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetch one of Debian's kernels into build/kernel/<flavour>/ for booting in QEMU:
#   fetch-kernel.sh 6.1 | 6.1-rt | 6.12 | 6.12-rt
# Makes  release  (what uname -r says), vmlinux (for a fast PVH boot), modules/ (the kernel's own).
# The package comes from the system's own apt sources, checked by apt; it is unpacked, not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

flavour=${1:?usage: fetch-kernel.sh 6.1|6.1-rt|6.12|6.12-rt}
case $flavour in
6.1) meta=linux-image-amd64 ;;
6.1-rt) meta=linux-image-rt-amd64 ;;
6.12) meta=linux-image-6.12-amd64 ;;
6.12-rt) meta=linux-image-6.12-rt-amd64 ;;
*) echo "fetch-kernel.sh: unknown flavour '$flavour'; wanted 6.1, 6.1-rt, 6.12 or 6.12-rt" >&2; exit 2 ;;
esac

dir=build/kernel/$flavour
package=$(apt-cache depends --no-recommends --no-suggests "$meta" | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -1)
[ -n "$package" ] || { echo "fetch-kernel.sh: apt knows no $meta; run apt-get update" >&2; exit 1; }
release=${package#linux-image-}
if [ -f "$dir/release" ] && [ "$(cat "$dir/release")" = "$release" ]; then
	exit 0
fi

rm -rf "$dir"
mkdir -p "$dir/deb"
chmod 755 "$dir/deb"
(cd "$dir/deb" && apt-get download -qq "$package")
dpkg-deb -x "$dir"/deb/*.deb "$dir/root"

# bzImage -> ELF: QEMU boots it by PVH, without decompressing under emulation.
image=$dir/root/boot/vmlinuz-$release
extract() { # magic, decompressor: offsets of the magic, then try
	local at
	while read -r at; do
		tail -c+"$((at + 1))" "$image" | eval "$2" >"$dir/vmlinux" 2>/dev/null || true
		if readelf -h "$dir/vmlinux" >/dev/null 2>&1; then
			return 0
		fi
	done < <(LC_ALL=C grep -obUaP "$1" "$image" | cut -d: -f1)
	return 1
}
extract '\xfd7zXZ\x00' 'xz -dc' || extract '\x28\xb5\x2f\xfd' 'zstd -dc' || extract '\x02\x21\x4c\x18' 'lz4 -dc' ||
	{ echo "fetch-kernel.sh: no ELF found inside $image" >&2; exit 1; }

mv "$dir/root/lib/modules/$release" "$dir/modules"
cp "$dir/root/boot/config-$release" "$dir/config"
cp "$dir/root/boot/System.map-$release" "$dir/System.map" 2>/dev/null || true
rm -rf "$dir/root" "$dir/deb"
echo "$release" >"$dir/release"
