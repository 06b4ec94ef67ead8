#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel's transports under task, softirq, hardirq and NMI at once, in QEMU; then with planted faults, which must be
# seen. GKHI_STRESS_EVENTS: per transport. GKHI_STRESS_KERNEL: a folder of build/kernel/.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

events=${GKHI_STRESS_EVENTS:-10000000}
kernel=${GKHI_STRESS_KERNEL:-6.1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/lib/build_module.sh" "$kernel" "$work" kstress "$top"/kmod/{ring,relay,adhoc}.[ch] "$here"/modules/transport_{stress,check}.[ch]

python3 "$here/lib/inject_nmi.py" "$work/monitor" "$work/out/console.log" &
# shellcheck disable=SC2016
GKHI_MONITOR=unix:$work/monitor,server,nowait "$here/boot.sh" -k "$top/build/kernel/$kernel" -o "$work/out" -t 1200 \
	-p "$work/kstress.ko" '
insmod kstress.ko && echo READY
P=/sys/module/kstress/parameters
run() { echo "$*" >$P/run; cat $P/run >&3; }
echo 16384 >$P/subbuf_size; echo 64 >$P/n_subbufs
for kind in ring discard relay adhoc; do run $kind '"$events"'; done
# planted: a small buffer for what only shows when it is full, else one whose reader keeps up
for kind in ring adhoc; do for plant in 1 2 4; do run $kind 500000 $plant; done; done
echo 4096 >$P/subbuf_size; echo 16 >$P/n_subbufs
for plant in 1 3 4; do run relay 500000 $plant; done
run discard 500000 3
# nobody is woken: long enough for a reader to be seen asleep for a second
for kind in ring discard relay; do run $kind 5000000 5; done'
wait || true
cat "$work/out/result.tap"
mapfile -t verdict < <(cut -d' ' -f1 "$work/out/result.tap")
[ "${verdict[*]}" = "GOOD GOOD GOOD GOOD$(printf ' BAD%.0s' {1..13})" ] ||
	{ echo "transport_stress.sh: verdicts '${verdict[*]}', wanted 4 times GOOD, then 13 times BAD" >&2; exit 1; }
