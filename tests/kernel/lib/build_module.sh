#!/bin/bash
# SPDX-License-Identifier: MIT
# Build sources into one module for a kernel of build/kernel/, in a folder of its own:
#   build_module.sh KERNEL OUTDIR NAME SOURCE...       makes OUTDIR/NAME.ko
# CC (gcc or clang-19) as the environment says; the project's headers are found.
set -euo pipefail
top=$(cd "$(dirname "$0")/../../.." && pwd)
kernel=$1 out=$2 name=$3
shift 3

case $kernel in
*-kasan | *-kcsan) "$top/scripts/build-kernel.sh" "${kernel##*-}" ;;
*) "$top/scripts/fetch-kernel.sh" "$kernel" ;;
esac
tree=$top/build/kernel/$kernel/build
make=(make -s)
if [ -d "$tree" ]; then
	make+=(LLVM=-19)
else
	tree=/lib/modules/$(cat "$top/build/kernel/$kernel/release")/build
fi
cp "$@" "$out"
objects=
for source in "$@"; do
	[[ $source != *.c ]] || objects+=" $(basename "$source" .c).o"
done
cat >"$out/Kbuild" <<KBUILD
obj-m := $name.o
$name-y :=$objects
ccflags-y := -I$top/hooks/include -I$top/backends/include -I$top/kmod
KBUILD
"${make[@]}" -C "$tree" M="$out" W=1 modules
