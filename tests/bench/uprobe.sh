# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A kernel uprobe on the benchmark's USDT site, in a tracefs instance of its own: sourced by run.sh.
#
#   uprobe_start DIR BINARY   sets UPROBE_STATE to "on", or to why there is none
#   uprobe_stop

uprobe_trace=
uprobe_instance=
export UPROBE_STATE=

uprobe_start() {
	UPROBE_STATE="uprobe not set"
	[ "$(id -u)" = 0 ] || { UPROBE_STATE="uprobes need root"; return 0; }
	# A mount of our own: where the machine has tracefs, if at all, is its own affair.
	mkdir -p "$1/tracefs"
	mount -t tracefs none "$1/tracefs" 2>/dev/null || { UPROBE_STATE="cannot mount tracefs"; return 0; }
	uprobe_trace=$1/tracefs
	[ -w "$uprobe_trace/uprobe_events" ] || { UPROBE_STATE="no uprobe_events in tracefs"; uprobe_stop; return 0; }

	# Location in the note is an address; less the distance of address and offset of its segment it is a file offset.
	local address offset
	address=$(readelf -n "$2" 2>/dev/null | awk '/Name: pair_probed/ { on = 1 } on && /Location:/ { print $2; exit }')
	[ -n "$address" ] || { UPROBE_STATE="no USDT note 'pair_probed' in $2"; uprobe_stop; return 0; }
	address=${address%,}
	offset=$(readelf -lW "$2" | awk -v a="$((address))" '
		function hex(s,   i, n) { n = 0; s = tolower(substr(s, 3)); for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
		$1 == "LOAD" && a >= hex($3) && a < hex($3) + hex($5) { printf "0x%x", a - hex($3) + hex($2); exit }')

	uprobe_instance=$uprobe_trace/instances/gkhi_bench_$$
	if ! mkdir "$uprobe_instance" 2>/dev/null; then
		UPROBE_STATE="cannot make a tracefs instance"; uprobe_instance=; uprobe_stop; return 0
	fi
	if ! echo "p:gkhi_bench_$$/pair $2:$offset a=%di b=%si" >>"$uprobe_trace/uprobe_events" 2>/dev/null; then
		UPROBE_STATE="the kernel refused the uprobe"; uprobe_stop; return 0
	fi
	echo 1 >"$uprobe_instance/events/gkhi_bench_$$/pair/enable"
	UPROBE_STATE=on
}

uprobe_stop() {
	[ -n "$uprobe_trace" ] || return 0
	if [ -n "$uprobe_instance" ]; then
		if [ -e "$uprobe_instance/events/gkhi_bench_$$/pair/enable" ]; then
			echo "uprobe: $(grep -c pair "$uprobe_instance/trace") events in its buffer at the end"
			echo 0 >"$uprobe_instance/events/gkhi_bench_$$/pair/enable"
		fi
		rmdir "$uprobe_instance"
		echo "-:gkhi_bench_$$/pair" >>"$uprobe_trace/uprobe_events" 2>/dev/null || true
	fi
	umount "$uprobe_trace"
	uprobe_instance=
	uprobe_trace=
}
