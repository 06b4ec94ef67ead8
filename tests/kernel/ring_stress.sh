#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel's ring under task, softirq, hardirq and NMI at once, in QEMU; then with two planted faults, which must be seen.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

"$top/scripts/fetch-kernel.sh" 6.1
release=$(cat "$top/build/kernel/6.1/release")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$top"/kmod/ring.[ch] "$here/modules/kring_stress.c" "$work"
cat >"$work/Kbuild" <<KBUILD
obj-m := kring.o
kring-y := ring.o kring_stress.o
ccflags-y := -I$top/hooks/include -I$top/backends/include
KBUILD
make -s -C "/lib/modules/$release/build" M="$work" W=1 modules

python3 "$here/lib/inject_nmi.py" "$work/monitor" "$work/out/console.log" &
# shellcheck disable=SC2016
GKHI_MONITOR=unix:$work/monitor,server,nowait "$here/boot.sh" -o "$work/out" -p "$work/kring.ko" '
insmod kring.ko && echo READY
P=/sys/module/kring/parameters
for a in 5 "3 1" "3 2"; do echo "$a" >$P/run; cat $P/run; cat $P/run >&3; done'
wait || true
cat "$work/out/result.tap"
mapfile -t verdict < <(cut -d' ' -f1 "$work/out/result.tap")
[ "${verdict[*]}" = "GOOD BAD BAD" ] ||
	{ echo "ring_stress.sh: verdicts '${verdict[*]}', wanted 'GOOD BAD BAD'" >&2; exit 1; }
