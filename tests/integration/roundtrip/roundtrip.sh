#!/bin/bash
# SPDX-License-Identifier: MIT
# Random events of all types survive YAML -> stub -> buffer -> CTF -> babeltrace2 and gkhi report, unchanged: as static hooks
# and as markers, in all three kinds of stream.
# usage: roundtrip.sh SOURCE-DIR BUILD-DIR    GKHI_SEED and GKHI_EVENTS choose others
set -euo pipefail
here=$(dirname "$0")
source=$1 build=$2
seed=${GKHI_SEED:-1} events=${GKHI_EVENTS:-10000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -m 700 "$work/run"
export GKHI_DIR=$work/run

echo "seed $seed, $events events"
"$here/generate.py" "$seed" 150 "$events" "$work"
"$build/bin/genevent" generate "$work/rt.yaml" --header "$work/gkhi_rt.h" --source "$work/gkhi_rt.c"
"${CC:-cc}" -std=gnu11 -O1 -Wall -Werror -I"$work" -I"$source/hooks/include" -I"$source/backends/include" \
	-I"$source/userspace/runtime/include" "$work/rt.c" "$work/gkhi_rt.c" -o "$work/rt" \
	-L"$build/lib" -Wl,--no-as-needed -lgkhi -Wl,-rpath,"$build/lib"

# Without a clock only one cpu's events have an order.
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')

run() { # STATE STREAM-CLASS [COMMAND-PREFIX...]
	local trace=$work/$1-$2 state=$1 class=$2
	shift 2
	"$build/bin/gkhi" record --strict -o "$trace" \
		-e "channel rt backend=ring mode=discard stream=$class subbuf_size=1M n_subbufs=8; rt:*=$state channel=rt" -- "$@" "$work/rt"
	[ -z "$(babeltrace2 "$trace" 2>&1 >/dev/null)" ]
	"$here/compare.py" "$build/bin/gkhi" "$work" "$trace" "$state"
}

run static compact
run marker compact
run static wide
run static noclock taskset -c "$cpu"
