#!/bin/bash
# SPDX-License-Identifier: MIT
# A driver of the kernel, untouched, with hooks: built by Kbuild against Debian's headers of Linux 6.1, and the same sites
# on the driver of 6.12, which they no longer fit. virtio_net.sh BUILD INCLUDE VERSION
# shellcheck source=tests/integration/pass/real/lib.sh
. "$(dirname "$0")/lib.sh"

headers() { # RELEASE PACKAGE: the newest of Debian's, neither rt nor cloud
	local found
	found=$(printf '%s\n' /lib/modules/"$1".*-amd64/build | grep -v -e -rt- -e -cloud- | sort -V | tail -1)
	[ -f "$found/include/config/auto.conf" ] || { echo "skipped: no headers of Linux $1; wanted the package $2" >&2; exit 77; }
	echo "$found"
}

kbuild() { # RELEASE HEADERS
	local source
	source=$("$top/scripts/fetch-kernel-source.sh" "$1" drivers/net/virtio_net.c 2>fetch.txt) ||
		{ echo "skipped: no source of Linux $1: $(tail -1 fetch.txt)" >&2; exit 77; }
	mkdir -p "$1"
	cp "$source/drivers/net/virtio_net.c" "$1/"
	echo 'obj-m := virtio_net.o' >"$1/Kbuild"
	"$bin/gkhi-kbuild" --gkhi-sites=sites.h "clang-$version" -C "$2" "M=$tmp/$1" KCFLAGS=-fno-color-diagnostics modules >"$1.txt" 2>&1
}

old=$(headers 6.1 linux-headers-amd64)
new=$(headers 6.12 linux-headers-6.12-amd64)
cp "$here/virtio_net.yaml" .
"$bin/genevent" sites virtio_net.yaml -o sites.h

kbuild 6.1 "$old" || { cat 6.1.txt; die "the driver of 6.1 is not built"; }
! grep -n 'warning' 6.1.txt || die "warnings in the driver of 6.1"
"$bin/gkhi" map --check virtio_net.yaml 6.1/virtio_net.ko
"$bin/gkhi" map 6.1/virtio_net.ko >map.txt
# Nothing but nops was added to the code: what is not a record is what the driver has without sites.
mkdir plain
cp 6.1/virtio_net.c 6.1/Kbuild plain/
"$bin/gkhi-kbuild" "clang-$version" -C "$old" "M=$tmp/plain" modules >plain.txt 2>&1 || { cat plain.txt; die "plain"; }
instructions() { objdump -d --no-show-raw-insn "$1" | sed -n 's/^ *[0-9a-f]*:\t\([a-z]*\).*/\1/p' | grep -vxc -e nop -e nopl -e nopw -e xchg -e data16 -e cs; }
with=$(instructions 6.1/virtio_net.ko) without=$(instructions plain/virtio_net.ko)
[ "$with" = "$without" ] || die "instructions but nops: $with with sites, $without without; wanted as many"
xz -k 6.1/virtio_net.ko
"$bin/gkhi" map 6.1/virtio_net.ko.xz | grep -v '^# file' | diff - <(grep -v '^# file' map.txt) || die "the map of the compressed module"
for event in xmit xmitted receive reclaim coalesce; do
	grep -q " virtnet:$event " map.txt || { cat map.txt; die "no site of $event"; }
done

if kbuild 6.12 "$new"; then
	die "the driver of 6.12 is built, though sites are for 6.1"
fi
[ ! -e 6.12/virtio_net.o ] || die "and yet there is an object file"
sed -nE -e "s,$tmp/(6\.12/)?,,g" -e 's/^ *[0-9]+ \| //' -e '/^virtio_net\.(yaml|c):/p' 6.12.txt | sed -E 's/^(virtio_net\.c):[0-9]+:/\1:LINE:/' >found.txt
diff -u "$here/virtio_net-6.12.txt" found.txt
