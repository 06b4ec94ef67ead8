#!/bin/bash
# SPDX-License-Identifier: MIT
# description: what scripts/test.sh ends with is what README.md shows, and a failed or unlisted skipped test is in it
# usage: summary_test.sh SOURCE_DIR
# The script is run for real, on a suite of one test: a real run would run this test.
set -euo pipefail
source=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAIL: $*: $(cat "$tmp/out")" >&2; exit 1; }

mkdir "$tmp/scripts" "$tmp/tests" "$tmp/tools"
cp "$source/scripts/test.sh" "$source/scripts/skipped.py" "$tmp/scripts/"
: >"$tmp/tests/skips.txt"
cat >"$tmp/tools/cmake" <<'TOOL'
#!/bin/sh
exit "${CMAKE_STATUS:-0}"
TOOL
cat >"$tmp/tools/ctest" <<'TOOL'
#!/bin/bash
# Of all options only --preset NAME and --output-junit FILE matter here.
preset='' results=''
while [ $# != 0 ]; do
	case $1 in
	--preset) preset=$2 ;;
	--output-junit) results=$2 ;;
	esac
	shift
done
one='<testcase name="a.test" status="run"/>'
[ "$preset" != "${SKIPS:-}" ] || one='<testcase name="a.test"><skipped/><system-out>skipped: no moon</system-out></testcase>'
echo "<testsuite>$one</testsuite>" >"$results"
[ "$preset" != "${FAILS:-}" ]
TOOL
chmod +x "$tmp/tools/"*

run() { # STATUS LAST-LINE [NAME=VALUE...]
	local code=0 status=$1 last=$2
	shift 2
	env -u GKHI_TEST_PRESETS CI=true PATH="$tmp/tools:$PATH" "$@" "$tmp/scripts/test.sh" >"$tmp/out" 2>&1 || code=$?
	[ "$code" = "$status" ] || fail "exit $code, wanted $status"
	[ -z "$last" ] || [ "$(tail -n 1 "$tmp/out")" = "$last" ] || fail "last line is not '$last'"
}

shown=$(sed -n '/^\$ make test$/,/^```$/p' "$source/README.md" | sed '$d' | tail -n 1)
[ -n "$shown" ] || { echo "FAIL: README.md shows nothing of make test" >&2; exit 1; }
run 0 "$shown"
run 0 "all tests passed in: asan tsan" GKHI_TEST_PRESETS="asan tsan"
grep -qx '== tsan' "$tmp/out" || fail "the preset is not named"
run 1 "failed in: asan" FAILS=asan
run 1 "failed in: release (skipped tests)" SKIPS=release
run 1 "" CMAKE_STATUS=1
echo ok
