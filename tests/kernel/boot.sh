#!/bin/bash
# SPDX-License-Identifier: MIT
# Boot a kernel in QEMU with a payload and run it:
#   boot.sh [-k KERNELDIR] [-o OUTDIR] [-p PAYLOAD]... [-a APPEND] [-s SMP] [-m MIB] [-t SECONDS] [-i] [-n] COMMAND
# KERNELDIR holds vmlinux (or bzImage); PAYLOAD files and folders are copied into /t of the guest;
# COMMAND runs there in a shell. Writes OUTDIR/console.log and OUTDIR/result.tap (the guest's fd 3).
# -n: a virtio network card, with QEMU's own network of 10.0.2.0/24 behind it: its 10.0.2.2 answers ping.
# -i: count instructions (-icount shift=0, one cpu): the guest's TSC ticks once per instruction.
#
# Exit status 0 only when the guest said so through isa-debug-exit: a guest that panics, hangs or
# powers off makes QEMU exit with something else than 33, and that is a failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

kernel=$here/../../build/kernel/6.1 out='' append='' smp=2 mib=512 seconds=300 icount='' network=() payload=()
while getopts k:o:p:a:s:m:t:in opt; do
	case $opt in
	k) kernel=$OPTARG ;; o) out=$OPTARG ;; p) payload+=("$OPTARG") ;; a) append=$OPTARG ;; s) smp=$OPTARG ;;
	m) mib=$OPTARG ;; t) seconds=$OPTARG ;; i) icount=1 ;;
	n) network=(-netdev "user,id=net,restrict=on" -device "virtio-net-pci,netdev=net,romfile=") ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { echo "boot.sh: no command" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${out:-$work/out}
mkdir -p "$out" "$work"/root/{bin,proc,sys,dev,t,tmp,run,etc}
cp /bin/busybox "$work/root/bin/busybox"
cp "$here/lib/init" "$work/root/init"
for p in "${payload[@]}"; do cp -r "$p" "$work/root/t/"; done
printf '%s\n' "$*" >"$work/root/t/.command"
(cd "$work/root" && find . | cpio -o -H newc --quiet) >"$work/initrd"

image=$kernel/vmlinux
[ -f "$kernel/bzImage" ] && image=$kernel/bzImage
accel=(-accel "tcg,thread=${GKHI_TCG_THREAD:-multi}" -smp "$smp")
[ -z "$icount" ] || accel=(-accel "tcg,thread=single" -icount "shift=0,sleep=off" -smp 1)

rc=0
timeout -k 5 "$seconds" qemu-system-x86_64 -M q35 -cpu max -m "$mib" "${accel[@]}" "${network[@]}" \
	-display none -no-reboot -nodefaults -no-user-config \
	-serial "file:$out/console.log" -serial "file:$out/result.tap" \
	-monitor "${GKHI_MONITOR:-none}" -device isa-debug-exit,iobase=0xf4,iosize=0x4 \
	-kernel "$image" -initrd "$work/initrd" \
	-append "console=ttyS0 quiet panic=-1 oops=panic nokaslr mitigations=off $append" </dev/null || rc=$?
case $rc in
33) exit 0 ;;
35) echo "boot.sh: the guest reports failure" >&2; exit 1 ;;
124) echo "boot.sh: no verdict in $seconds seconds" >&2 ;;
*) echo "boot.sh: no verdict, QEMU exited with $rc (a panic, or the guest powered off)" >&2 ;;
esac
tail -30 "$out/console.log" >&2
exit 1
