# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# An LTTng session daemon of the benchmark's own, as an unprivileged user: sourced by run.sh.
#
#   lttng_start DIR    sets LTTNG_STATE to "on", or to why there is none
#   lttng_stop DIR     ends the session and the daemon that lttng_start began; tells the events recorded

lttng_pid=

# In place of this shell, so that its process id is the command's.
lttng_exec() {
	export LTTNG_HOME=$lttng_dir
	[ "$(id -u)" != 0 ] || exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	exec "$@"
}

lttng_as_user() {
	(lttng_exec "$@")
}

lttng_start() {
	lttng_dir=$1/lttng
	LTTNG_STATE="LTTng not started"
	for tool in lttng lttng-sessiond; do
		command -v $tool >/dev/null || { LTTNG_STATE="no $tool here (lttng-tools)"; return 0; }
	done
	mkdir -p "$lttng_dir"
	[ "$(id -u)" != 0 ] || chown 65534:65534 "$lttng_dir"
	lttng_exec lttng-sessiond --no-kernel >"$1/sessiond.log" 2>&1 &
	lttng_pid=$!
	local tries=100
	while [ $((tries -= 1)) -gt 0 ]; do
		[ ! -S "$lttng_dir/.lttng/client-lttng-sessiond" ] || break
		sleep 0.1
	done
	{
		lttng_as_user lttng create overwrite --snapshot --output="$lttng_dir/overwrite" &&
			lttng_as_user lttng enable-channel -u -s overwrite --buffers-uid --overwrite --num-subbuf 4 --subbuf-size 256K ow &&
			lttng_as_user lttng enable-event -u -s overwrite -c ow 'gkhi_bench:*_overwrite' &&
			lttng_as_user lttng start overwrite &&
			lttng_as_user lttng create discard --output="$lttng_dir/discard" &&
			lttng_as_user lttng enable-channel -u -s discard --buffers-uid --discard --num-subbuf 8 --subbuf-size 1M \
				--tracefile-size 8M --tracefile-count 2 dc &&
			lttng_as_user lttng enable-event -u -s discard -c dc gkhi_bench:pair_discard &&
			lttng_as_user lttng start discard
	} >"$1/lttng.log" 2>&1 || { LTTNG_STATE="lttng refused: $(tail -n 1 "$1/lttng.log")"; lttng_kill; return 0; }
	LTTNG_STATE=on
}

lttng_kill() {
	[ -n "$lttng_pid" ] || return 0
	kill "$lttng_pid" 2>/dev/null || true
	wait "$lttng_pid" 2>/dev/null || true
	lttng_pid=
}

# Counts both traces, so that a session that recorded nothing can't pass for a fast one.
lttng_stop() {
	[ "$LTTNG_STATE" = on ] || { lttng_kill; return 0; }
	lttng_as_user lttng stop discard >>"$1/lttng.log" 2>&1 || true
	lttng_as_user lttng snapshot record -s overwrite >>"$1/lttng.log" 2>&1 || true
	lttng_as_user lttng destroy --all >>"$1/lttng.log" 2>&1 || true
	lttng_kill
	local kind n
	for kind in overwrite discard; do
		n=$(babeltrace2 "$lttng_dir/$kind" 2>/dev/null | wc -l) || true
		echo "LTTng $kind: $n events in its buffers at the end"
		[ "$n" -gt 0 ] || { echo "run.sh: LTTng's session '$kind' recorded nothing" >&2; return 1; }
	done
}
