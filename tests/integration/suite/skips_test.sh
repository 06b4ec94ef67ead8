#!/bin/bash
# SPDX-License-Identifier: MIT
# description: a skipped test is printed with its reason, and with CI set it must be listed (a real ctest, tests of its own)
# usage: skips_test.sh SOURCE_DIR
set -euo pipefail
source=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAIL: $*: $(cat "$tmp/out")" >&2; exit 1; }

# As gtest_discover_tests(), a shell test and a whole gtest program show themselves to ctest.
cat >"$tmp/CTestTestfile.cmake" <<'TESTS'
add_test(a.passes true)
add_test(a.shell sh -c "echo skipped: no such compiler; exit 77")
set_tests_properties(a.shell PROPERTIES SKIP_RETURN_CODE 77)
add_test(a.silent sh -c "exit 77")
set_tests_properties(a.silent PROPERTIES SKIP_RETURN_CODE 77)
add_test(a.gtest sh -c "printf '[ RUN      ] G.One\nx_test.cc:3: Skipped\nneeds a moon\n\n[  SKIPPED ] G.One (0 ms)\n'")
set_tests_properties(a.gtest PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
add_test(a.program sh -c "seq 2000; printf 'x_test.cc:3: Skipped\nneeds a sun\n\n[  SKIPPED ] G.Two (0 ms)\n[       OK ] G.Three (0 ms)\n'")
add_test(a.parts sh -c "echo skipped: no such tool; echo the rest is well")
TESTS
(cd "$tmp" && ctest --output-junit "$tmp/all.xml" --test-output-size-passed 1000000 >"$tmp/out" 2>&1) || fail "ctest failed"
(cd "$tmp" && ctest -R passes --output-junit "$tmp/good.xml" >"$tmp/out" 2>&1) || fail "ctest failed"

expect() { # STATUS RESULTS LINE...: the lines must stand in the output; skips.txt is $tmp/list
	local code=0 status=$1 results=$2
	shift 2
	"$source/scripts/skipped.py" "$tmp/$results.xml" release "$tmp/list" >"$tmp/out" 2>&1 || code=$?
	[ "$code" = "$status" ] || fail "exit $code, wanted $status"
	for line in "$@"; do grep -qxF -e "$line" "$tmp/out" || fail "no line '$line'"; done
}
said="wanted every test run, or a reason and a line in $tmp/list"

unset CI
: >"$tmp/list"
expect 0 all "  skipped: a.shell: no such compiler (not in skips.txt)" "  skipped: a.gtest: needs a moon (not in skips.txt)" \
	"  skipped: a.program/G.Two: needs a sun (not in skips.txt)" "  skipped: a.silent: no reason given (not in skips.txt)" \
	"  skipped: a.parts/part: no such tool (not in skips.txt)" "5 of 6 tests skipped in release"
export CI=true
expect 1 all "skipped.py: a.shell was skipped, $said" "skipped.py: a.gtest was skipped, $said" \
	"skipped.py: a.program/G.Two was skipped, $said" "skipped.py: a.silent was skipped, $said"
expect 0 good "0 of 1 tests skipped in release"
printf 'rel* a.* all of it\n' >"$tmp/list"
expect 1 all "skipped.py: a.silent was skipped, $said" # listed, but it does not say why
sed -i '/a.silent/d' "$tmp/CTestTestfile.cmake"
(cd "$tmp" && ctest --output-junit "$tmp/all.xml" --test-output-size-passed 1000000 >"$tmp/out" 2>&1)
expect 0 all "4 of 5 tests skipped in release"
printf 'asan a.* another build\n' >"$tmp/list"
expect 1 all "skipped.py: a.shell was skipped, $said"
printf '* a.passes r\n* b.gone r\n' >"$tmp/list"
expect 1 good "$tmp/list:2: names no test of release"
printf '* a.passes\n' >"$tmp/list"
expect 1 good "$tmp/list:1: found 2 columns, wanted 3: preset, test, reason"
echo ok
