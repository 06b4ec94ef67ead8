#!/bin/bash
# SPDX-License-Identifier: MIT
# The pass on one program, built in every way with one release of clang: run.sh BUILD INCLUDE VERSION
# The program prints what each event must hold; the trace must say the same, in the same order, in every build.
set -euo pipefail
build=$1 include=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
bin=$build/bin
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
export GKHI_DIR=$tmp/gkhi LD_LIBRARY_PATH=$build/lib
failed=0 tried=0

"$bin/genevent" generate "$here/features.yaml" --header gkhi_features.h --source gkhi_features.c --sites sites.h
cc=("$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$version") cxx=("$bin/gkhi-cc" --gkhi-sites=sites.h "clang++-$version")

check() { # NAME PROGRAM
	local name=$1 program=$2
	tried=$((tried + 1))
	rm -f trace.txt
	GKHI="channel out backend=printk target=$tmp/trace.txt rate=0; feat:*=marker channel=out" \
		timeout 60 "$program" 30 >on.txt 2>truth.txt || { echo "FAILED $name: exit status $?"; failed=1; return; }
	timeout 60 "$program" 30 >off.txt 2>/dev/null
	if ! cmp -s on.txt off.txt; then
		echo "FAILED $name: the program's output changes with its hooks"
		failed=1
	elif [ "$(wc -l <truth.txt)" -lt 300 ]; then
		echo "FAILED $name: the program says too little: $(wc -l <truth.txt) lines"
		failed=1
	elif ! diff truth.txt trace.txt >diff.txt; then
		echo "FAILED $name: what happened (<) and what was traced (>):"
		head -6 diff.txt
		failed=1
	elif ! "$bin/gkhi" map --check "$here/features.yaml" "$program"; then
		echo "FAILED $name: the map is not complete"
		failed=1
	fi
}

compile() { # FLAG...
	"${cc[@]}" "$@" -I"$here" -I"$include" -c "$here/features.c" -o c.o
	"${cxx[@]}" "$@" -I"$here" -I"$include" -c "$here/features.cc" -o cc.o
	"${cc[@]}" "$@" -I"$include" -c gkhi_features.c -o g.o
}

link() { # FLAG...
	"clang++-$version" "$@" c.o cc.o g.o -o program
}

for level in -O0 -O1 -O2 -O3 -Os; do
	compile "$level" -fPIE
	link -pie
	check "$level -fPIE" ./program
	compile "$level" -fno-PIE
	link -no-pie
	check "$level -fno-PIE" ./program
done
compile -O2 -ffunction-sections -fdata-sections
link -Wl,--gc-sections
strip -s program
check "-O2 gc-sections, stripped" ./program
if lld=$(command -v "ld.lld-$version"); then
	link "--ld-path=$lld" -Wl,--gc-sections
	"llvm-strip-$version" --strip-all program
	check "-O2 lld, gc-sections, llvm-strip" ./program
	for lto in full thin; do
		compile -O2 "-flto=$lto" -ffunction-sections
		link -O2 "-flto=$lto" "--ld-path=$lld" -Wl,--gc-sections
		check "-O2 -flto=$lto" ./program
	done
else
	echo "skipped: no ld.lld-$version: LTO and lld"
fi
compile -O2 -g
link
check "-O2 -g" ./program
compile -O2 -fno-omit-frame-pointer -fstack-protector-all -fcf-protection=full
link
check "-O2 frame pointer, stack protector, CET" ./program
compile -O2 -fno-integrated-as
link
check "-O2 GNU as" ./program
# Without a runtime the program runs as ever.
[ "$(LD_LIBRARY_PATH='' GKHI='' ./program 30 2>/dev/null)" = "$(cat off.txt)" ] || { echo "FAILED: without the runtime"; failed=1; }
# A negative control: a trace that misses one line is not equal.
sed -i 7d trace.txt
! cmp -s truth.txt trace.txt || { echo "FAILED: the comparison sees nothing"; failed=1; }
echo "$tried builds with clang $version"
exit $failed
