#!/bin/bash
# SPDX-License-Identifier: MIT
# Every test: the release build first, then the same tests in the other builds.
# GKHI_TEST_PRESETS="release asan tsan clang-19 no-patching" adds the other builds of CMakePresets.json.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=${GKHI_TEST_PRESETS:-release asan tsan}
jobs=${JOBS:-$(nproc)}
failed=()

for preset in $presets; do
	echo "== $preset"
	# What is the same in every build is built and tested once: the compiler plugins and SQLite.
	options=()
	[ "$preset" = release ] || options=(-DGKHI_PASS_LLVM= -DGKHI_EXAMPLES=OFF)
	mkdir -p build
	cmake --preset "$preset" "${options[@]}" >"build/configure-$preset.log" 2>&1 ||
		{ cat "build/configure-$preset.log"; exit 1; }
	cmake --build --preset "$preset" -j"$jobs"
	# Tests that say nothing new in another build carry the label release-only.
	only=()
	[ "$preset" = release ] || only=(-LE release-only)
	results=$PWD/build/results-$preset.xml
	rm -f "$results"
	ctest --preset "$preset" -j"$jobs" "${only[@]}" --output-junit "$results" --test-output-size-passed 10000000 ||
		failed+=("$preset")
	scripts/skipped.py "$results" "$preset" || failed+=("$preset (skipped tests)")
done

if [ ${#failed[@]} != 0 ]; then
	printf 'failed in: %s\n' "${failed[*]}" >&2
	exit 1
fi
echo "all tests passed in: $presets"
