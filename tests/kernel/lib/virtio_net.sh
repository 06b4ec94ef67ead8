#!/bin/sh
# SPDX-License-Identifier: MIT
# In the guest of pass.sh: frames go and come, all hooks of the driver are on, and the driver's own counters are the truth.
# shellcheck source=tests/kernel/lib/functions.sh disable=SC2154
. ./depends.sh
insmod gkhi.ko && insmod gkhi_ring.ko && insmod virtnet.ko
cd /tmp || exit
cat >work.sh <<'END'
set -e
for event in xmit xmitted receive reclaim coalesce; do
	i=0
	until grep -q '^marker (\(not \)\?optimised' /sys/kernel/gkhi/events/virtnet/$event/effective; do
		i=$((i + 1))
		[ $i -lt 200 ] || { echo "$event: $(cat /sys/kernel/gkhi/events/virtnet/$event/effective)"; exit 1; }
		usleep 50000
	done
done
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
for size in 0 1 100 500 1000 1472; do
	ping -q -c 20 -i 0.02 -s $size 10.0.2.2
done
sleep 1
for counter in tx_packets tx_bytes rx_packets rx_bytes; do
	echo "$counter $(cat /sys/class/net/eth0/statistics/$counter)"
done >counters
ip link set eth0 down
END
/t/run-gkhi record -k 'virtnet:*=marker' -o rec -- sh work.sh >said 2>&1 || fail "record: $(cat said)"
grep -q 'no event lost' said || fail "record: $(cat said)"
/t/run-gkhi report rec >text || fail "report"

counted() { sed -n "s/^$1 //p" counters; }
# sum EVENT EXPRESSION: of the fields, which awk sees as f["name"]; with 1, how many there are
sum() {
	awk -v event="virtnet:$1:" "
		{ for (i = 1; i <= NF && \$i != event; i++); if (i > NF) next }
		{ for (; i <= NF; i++) if (split(\$i, w, \"=\") == 2) f[w[1]] = w[2]; sum += $2 }
		END { print sum + 0 }" text
}
same() { [ "$2" = "$3" ] || fail "$1: the driver counted $2, the trace has $3: $(grep -m3 virtnet text)"; echo "$1: $2, as the driver counted" >&3; }
[ "$(counted tx_packets)" -ge 120 ] || fail "only $(cat counters)"
same "frames sent" "$(counted tx_packets)" "$(sum xmit 1)"
same "bytes sent" "$(counted tx_bytes)" "$(sum xmit 'f["len"]')"
same "frames taken by the queue" "$(counted tx_packets)" "$(sum xmitted 'f["err"] == 0')"
same "frames received" "$(counted rx_packets)" "$(sum receive 1)"
same "bytes received" "$(counted rx_bytes)" "$(sum receive 'f["len"] - f["hdr_len"]')"
same "frames of eth0" "$(counted tx_packets)" "$(grep -cE 'virtnet:xmit: .*dev="?eth0"? ' text)"
for event in xmit receive reclaim coalesce; do is $E/virtnet/$event/effective disabled; done
rmmod virtnet && rmmod gkhi_ring && rmmod gkhi
