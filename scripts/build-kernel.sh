#!/bin/bash
# SPDX-License-Identifier: MIT
# Build a kernel that reports what is wrong, from Debian's source, into build/kernel/6.1-<kind>/:
#   build-kernel.sh kasan | kcsan
# kasan: KASAN, lockdep, kmemleak, failing allocations. kcsan: KCSAN, lockdep.
# Makes  release, vmlinux or bzImage (what boots fastest and boots), build (for modules: make -C build M=...).
# Cached: nothing happens while source package and configuration stay the same.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:?usage: build-kernel.sh kasan|kcsan}
config=tests/kernel/config
if [ ! -f "$config/$kind.config" ] || [ "$kind" = base ]; then
	echo "build-kernel.sh: unknown kind '$kind'; wanted kasan or kcsan" >&2
	exit 2
fi
jobs=${JOBS:-$(nproc)}
clang=${GKHI_KERNEL_CLANG:-19}

dir=$PWD/build/kernel/6.1-$kind
version=$(apt-cache policy linux-source-6.1 | sed -n 's/^ *Candidate: //p')
[ -n "$version" ] || { echo "build-kernel.sh: apt knows no linux-source-6.1; run apt-get update" >&2; exit 1; }
stamp="$version clang-$clang $(cat "$config/base.config" "$config/$kind.config" | sha256sum | cut -c1-16)"
if [ -f "$dir/stamp" ] && [ "$(cat "$dir/stamp")" = "$stamp" ]; then
	exit 0
fi

source=build/kernel/source-$version
if [ ! -f "$source/Makefile" ]; then
	rm -rf "$source" "$source.part"
	mkdir -p "$source.part/deb"
	chmod 755 "$source.part/deb"
	(cd "$source.part/deb" && apt-get download -qq linux-source-6.1)
	dpkg-deb --fsys-tarfile "$source.part"/deb/*.deb | tar -xO ./usr/src/linux-source-6.1.tar.xz |
		tar -xJ -C "$source.part" --strip-components=1
	rm -rf "$source.part/deb"
	mv "$source.part" "$source"
fi

kmake() { make -s -C "$source" O="$dir/build" LLVM="-$clang" "$@"; }
configure() {
	rm -rf "$dir"
	mkdir -p "$dir/build"
	kmake tinyconfig
	"$source/scripts/kconfig/merge_config.sh" -m -O "$dir/build" "$dir/build/.config" \
		"$config/base.config" "$config/$kind.config" >"$dir/merge.log"
	kmake olddefconfig
	# What was asked for and not got would make every test of it pass.
	while read -r want; do
		grep -qxF "$want" "$dir/build/.config" || { echo "build-kernel.sh: $want was refused" >&2; exit 1; }
	done < <(grep -h '^CONFIG' "$config/base.config" "$config/$kind.config")
	echo "$stamp" >"$dir/configured"
}
# One that was interrupted goes on.
if [ ! -f "$dir/configured" ] || [ "$(cat "$dir/configured")" != "$stamp" ]; then
	configure
fi

# PVH is fastest, but KASAN's shadow is not there yet on that path: it resets at once.
image=vmlinux
[ "$kind" != kasan ] || image=bzImage
nice -n "${NICE:-10}" make -s -C "$source" O="$dir/build" LLVM="-$clang" -j"$jobs" "$image" modules >"$dir/build.log" 2>&1 ||
	{ tail -30 "$dir/build.log" >&2; exit 1; }
if [ $image = bzImage ]; then
	cp "$dir/build/arch/x86/boot/bzImage" "$dir/bzImage"
else
	cp "$dir/build/vmlinux" "$dir/vmlinux"
fi
cat "$dir/build/include/config/kernel.release" >"$dir/release"
echo "$stamp" >"$dir/stamp"
