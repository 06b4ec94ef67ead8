#!/bin/bash
# SPDX-License-Identifier: MIT
# Requests to a process that is starting: its file is there before its hooks are
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# launch VARIABLE...: ticker_slow with these in its environment, in $pid; returns when its file is there.
launch() {
	rm -rf "${GKHI_DIR:?}"/*
	env "$@" "$BIN/ticker_slow" 1000000 500 >"$work/first" 2>"$work/complaints" &
	pid=$!
	pids+=("$pid")
	until [ -n "$(find "$GKHI_DIR" -name control)" ]; do sleep 0.005; done
}

# end: of the last one launched
end() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null || true
}

# started: its constructors have run
started() {
	until [ -s "$work/first" ]; do sleep 0.01; done
}

for agent in none thread; do
	launch GKHI_AGENT=$agent "GKHI=channel main"
	code 0 "$BIN/gkhi" set -p "$pid" ticker:tick=static
	started
	until_more "$pid" ticker:tick 10
	end

	# A mistake is one still, and said when the program has started.
	launch GKHI_AGENT=$agent "GKHI=channel main"
	code 1 "$BIN/gkhi" set -p "$pid" ticker:tok=static
	same "$(cat "$work/err")" "gkhi set: $pid: batch:1:8: error: no hook 'ticker:tok'*"
	end

	launch GKHI_AGENT=$agent "GKHI=channel main"
	"$BIN/gkhi" record -p "$pid" -o "$work/t" 2>"$work/err" &
	recorder=$!
	started
	until_more "$pid" ticker:tick 10
	kill -INT $recorder
	wait $recorder || fail "record ended with $?: $(cat "$work/err")"
	end
done

# A program that has no hooks says so, a second after it was first asked.
LD_PRELOAD="$BIN/../lib/libgkhi.so.0" sleep 1000 &
pid=$!
pids+=("$pid")
code 1 "$BIN/gkhi" set -p "$pid" ticker:tick=static
same "$(cat "$work/err")" "gkhi set: $pid: batch:1:1: error: no provider 'ticker'*there are no hooks at all*"

# From the fork on, through exec and the loader.
for _ in $(seq 20); do
	"$BIN/ticker" 1000000 500 >"$work/first" &
	pid=$!
	pids+=("$pid")
	code 0 "$BIN/gkhi" set -p "$pid" ticker:tick=static
	end
done
