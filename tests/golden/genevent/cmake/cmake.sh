#!/bin/bash
# SPDX-License-Identifier: MIT
# gkhi_add_provider() in a project of its own, with ninja and with make: cmake.sh GENEVENT TOP
set -euo pipefail

genevent=$1
top=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$top/tests/golden/genevent/cmake" "$work/project"
cd "$work"
failed=0

fail() { echo "FAILED: $*"; failed=1; }
configure() { cmake -S project -B "$1" -DGKHI_TOP="$top" -DGKHI_GENEVENT="$genevent" "${@:2}"; }

for generator in Ninja "Unix Makefiles"; do
	build=build-${generator%% *}
	configure "$build" -G "$generator" >log || fail "$generator: configure: $(cat log)"
	cmake --build "$build" >log 2>&1 || fail "$generator: build: $(cat log)"
	"$build/outside" || fail "$generator: the program does not run"
	# A changed declaration is seen, and so is an error in it.
	sed -i 's/n, type: u32/n, type: u64/' project/demo.yaml
	cmake --build "$build" >log 2>&1 || fail "$generator: rebuild: $(cat log)"
	grep -q 'uint64_t gkhi_n_' "$build/gkhi/outside/gkhi_demo.h" || fail "$generator: a changed file is not generated anew"
	sed -i 's/n, type: u64/n, type: u65/' project/demo.yaml
	! cmake --build "$build" >log 2>&1 || fail "$generator: an error does not stop the build"
	grep -q "demo.yaml:4:30: error: unknown type 'u65'" log || fail "$generator: the error is not shown: $(cat log)"
	sed -i 's/n, type: u65/n, type: u32/' project/demo.yaml
done

refuses() {
	local text=$1
	shift
	! configure build-bad "$@" >log 2>&1 || fail "accepts $*"
	tr -s '\n ' ' ' <log | grep -qF "$text" || fail "no '$text' in: $(cat log)"
	rm -rf build-bad
}
refuses "RUNTIME 'dynamic'; wanted shared, static or none" "-DARGUMENTS=RUNTIME;dynamic"
refuses "unknown argument 'SIDES'; known: RUNTIME, SITES" -DARGUMENTS=SIDES
refuses "hooks in untouched source, which need clang 14, 16 or 19" -DARGUMENTS=SITES -DCMAKE_C_COMPILER=gcc
[ $failed = 0 ] && echo "gkhi_add_provider() as described"
exit $failed
