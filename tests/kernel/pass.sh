#!/bin/bash
# SPDX-License-Identifier: MIT
# An untouched driver with hooks by the pass, traced while it works: pass.sh [-f 6.1] [CLANG]
# The trace equals what the driver counted itself. Prints TAP.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

flavour=6.1
while getopts f: opt; do
	case $opt in
	f) flavour=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
cc=${1:-clang-19}

"$top/scripts/fetch-kernel.sh" "$flavour"
kernel=$top/build/kernel/$flavour
release=$(cat "$kernel/release")
out=$top/build/tests/kernel/$flavour/pass-$cc
rm -rf "$out"
mkdir -p "$out/module" "$out/payload"
make -s -C "$top/kmod" KRELEASE="$release" modules >"$out/build.log" 2>&1 || { cat "$out/build.log" >&2; exit 1; }

# The driver and the descriptors of its events make one module.
yaml=$top/tests/integration/pass/real/virtio_net.yaml
source=$("$top/scripts/fetch-kernel-source.sh" "${flavour%-rt}" drivers/net/virtio_net.c)
cp "$source/drivers/net/virtio_net.c" "$out/module/"
cp "$yaml" "$out/module/virtnet.yaml"
"$top/build/bin/genevent" sites "$out/module/virtnet.yaml" -o "$out/sites.h"
cat >"$out/module/Kbuild" <<'KBUILD'
obj-m := virtnet.o
virtnet-y := virtio_net.o virtnet_events.o
gkhi-providers := virtnet
include $(GKHI)/kmod/gkhi.mk
KBUILD
"$top/build/bin/gkhi-kbuild" --gkhi-sites="$out/sites.h" "$cc" -C "/lib/modules/$release/build" M="$out/module" GKHI="$top" \
	GENEVENT="$top/build/bin/genevent" modules >"$out/module.log" 2>&1 || { cat "$out/module.log" >&2; exit 1; }
"$top/build/bin/gkhi" map --check "$yaml" "$out/module/virtnet.ko"

for module in "$top/build/kmod/$release/kmod"/gkhi{,_ring}.ko "$out/module/virtnet.ko"; do
	strip --strip-debug -o "$out/payload/${module##*/}" "$module"
done
depends="net/core/failover drivers/net/net_failover drivers/virtio/virtio_ring drivers/virtio/virtio
	drivers/virtio/virtio_pci_legacy_dev drivers/virtio/virtio_pci_modern_dev drivers/virtio/virtio_pci"
for name in $depends; do
	cp "$kernel/modules/kernel/$name.ko" "$out/payload/"
	echo "insmod ${name##*/}.ko" >>"$out/payload/depends.sh"
done
"$here/lib/guest_binary.sh" "$top/build/bin/gkhi" "$out/payload"
strip "$out/payload/gkhi"

echo "1..1"
if "$here/boot.sh" -n -k "$kernel" -o "$out" -t 240 -p "$out/payload/." -p "$here/lib/functions.sh" -p "$here/lib/virtio_net.sh" \
	". ./functions.sh; set -e; . ./virtio_net.sh; clean_log" >"$out/log" 2>&1; then
	sed 's/^/# /' "$out/result.tap"
	echo "ok 1 - pass-$cc: an untouched driver of Linux $flavour, traced"
else
	echo "not ok 1 - pass-$cc: an untouched driver of Linux $flavour, traced"
	sed 's/^/# /' "$out/result.tap" "$out/log" | tail -40
	exit 1
fi
