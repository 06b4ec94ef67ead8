#!/bin/bash
# SPDX-License-Identifier: MIT
# Hooks in the source, compiled with and without the pass: the same events, and the pass adds what macros cannot know.
# run.sh BUILD INCLUDE VERSION
set -euo pipefail
build=$1 include=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
bin=$build/bin
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
export GKHI_DIR=$tmp/gkhi LD_LIBRARY_PATH=$build/lib
"$bin/genevent" generate "$here/marked.yaml" --header gkhi_marked.h --source gkhi_marked.c --sites sites.h
echo 'unsigned int elsewhere = 4000000000u;' >elsewhere.c
failed=0

make_program() { # NAME COMPILER...
	local name=$1
	shift
	"$@" -O2 -I. -I"$include" -c "$here/marked.c" -o "$name.o"
	"$@" -O2 -I. -I"$include" -c gkhi_marked.c -o "$name-events.o"
	"clang-$version" "$name.o" "$name-events.o" elsewhere.c -o "$name"
}

run() { # NAME STATE
	rm -f out.txt
	GKHI="channel out backend=printk target=$tmp/out.txt rate=0; marked:bare=marker channel=out; marked:cold=$2 channel=out" "./$1" >/dev/null
	cp out.txt "$1-$2.txt"
}

fields() { # NAME EVENT: what the map says of an event's pads
	"$bin/gkhi" map --json "$1" | jq -r ".maps[].sites[] | select(.event == \"marked:$2\") | \"\(.function) \(.origin) \(.bare) \(.kind)\"" | sort -u
}

expect() { # WHAT FOUND WANTED
	[ "$2" = "$3" ] && return
	echo "FAILED $1: found '$2', wanted '$3'"
	failed=1
}

make_program plain "clang-$version"
make_program passed "$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$version"
expect "macro, cold" "$(fields plain cold)" " macro false marked"
expect "macro, bare" "$(fields plain bare)" " macro true marked"
expect "pass, cold" "$(fields passed cold)" "inner macro false marked"
expect "pass, bare" "$(fields passed bare)" "total pass true marked"
expect "pass, placed" "$(fields passed placed)" "total pass true return"
for state in static marker; do
	run plain "$state"
	run passed "$state"
	diff "plain-$state.txt" "passed-$state.txt" || { echo "FAILED: the pass changes what $state hooks say (>)"; failed=1; }
	expect "events of $state hooks" "$(wc -l <"passed-$state.txt")" 12
done
rm -f out.txt
GKHI="channel out backend=printk target=$tmp/out.txt; marked:placed=marker channel=out" ./passed >/dev/null
expect "a variable of another file" "$(cat out.txt)" "marked:placed: errors=4000000000"
exit $failed
