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
make_program() { # EVENT-TYPES EVENTS [known]
	"$here/generate.py" "$seed" "$1" "$2" "$work" "${@:3}"
	"$build/bin/genevent" generate "$work/rt.yaml" --header "$work/gkhi_rt.h" --source "$work/gkhi_rt.c"
	"${CC:-cc}" -std=gnu11 -O1 -Wall -Werror -I"$work" -I"$source/hooks/include" -I"$source/backends/include" \
		-I"$source/userspace/runtime/include" "$work/rt.c" "$work/gkhi_rt.c" -o "$work/rt" \
		-L"$build/lib" -Wl,--no-as-needed -lgkhi -Wl,-rpath,"$build/lib"
}

ring="channel rt backend=ring mode=discard subbuf_size=1M n_subbufs=8"
# Without a clock only one cpu's events have an order.
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')

run() { # STATE STREAM-CLASS [COMMAND-PREFIX...]
	local trace=$work/$1-$2 state=$1 class=$2
	shift 2
	"$build/bin/gkhi" record --strict -o "$trace" \
		-e "$ring stream=$class; rt:*=$state channel=rt" -- "$@" "$work/rt"
	[ -z "$(babeltrace2 "$trace" 2>&1 >/dev/null)" ]
	"$here/compare.py" "$build/bin/gkhi" "$work" "$trace" "$state"
}

make_program 150 "$events"
run static compact
run marker compact
run static wide
run static noclock taskset -c "$cpu"

# printk and gkhi report --message: two renderers, one text, as far as printk's lines go.
make_program 80 2000 known
"$build/bin/gkhi" record --strict -o "$work/both" \
	-e "$ring; channel log backend=printk target=$work/log; rt:*=static channel=rt,log" -- "$work/rt"
"$build/bin/gkhi" report --message "$work/both" | sed '/^#/d; s/^[^:]*: //' | cut -b 1-400 |
	diff - <(cut -b 1-400 "$work/log")
echo "printk: $(wc -l <"$work/log") messages, the same as those of gkhi report"
