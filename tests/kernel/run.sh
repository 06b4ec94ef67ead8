#!/bin/bash
# SPDX-License-Identifier: MIT
# The tests in tc/, each in a guest of its own: run.sh [-f 6.1|6.1-rt|6.12|6.12-rt] [-j N] [NAME...]
# Prints TAP; a test's output is in build/tests/kernel/NAME.*.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

flavour=6.1
while getopts f: opt; do
	case $opt in
	f) flavour=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

"$top/scripts/fetch-kernel.sh" "$flavour"
release=$(cat "$top/build/kernel/$flavour/release")
out=$top/build/tests/kernel/$flavour
payload=$out/payload
rm -rf "$payload"
mkdir -p "$payload"
make -s -C "$top/kmod" KRELEASE="$release" all tests >"$out/build.log" 2>&1 || { cat "$out/build.log" >&2; exit 1; }
for module in "$top/build/kmod/$release"/{kmod,kmod/demo,stress}/*.ko; do
	strip --strip-debug -o "$payload/${module##*/}" "$module"
done

# Programs, for tests that say "# needs: tools": most guests do without.
tools=$out/tools
rm -rf "$tools"
"$here/lib/guest_binary.sh" "$top/build/bin/gkhi" "$tools"
strip "$tools/gkhi"
gcc -O2 -Wall -Wextra -Werror -static -I"$top/backends/include" -o "$tools/data_check" "$here/lib/data_check.c"

[ $# -gt 0 ] || { cd "$here/tc"; set -- *.tc; }
echo "1..$#"
n=0 failed=0
for name; do
	name=${name%.tc}
	n=$((n + 1))
	tc=$here/tc/$name.tc
	what=$(sed -n 's/^# description: //p' "$tc")
	options=$(sed -n 's/^# boot: //p' "$tc")
	seconds=$(sed -n 's/^# seconds: //p' "$tc")
	more=()
	! grep -qx '# needs: tools' "$tc" || more=(-p "$tools/.")
	rm -rf "${out:?}/$name" && mkdir -p "$out/$name"
	if "$here/boot.sh" -k "$top/build/kernel/$flavour" -o "$out/$name" -t "${seconds:-120}" -a "$options" \
		-p "$payload/." "${more[@]}" -p "$here/lib/functions.sh" -p "$tc" \
		". ./functions.sh; set -e; . ./$name.tc; clean_log" >"$out/$name/log" 2>&1 &&
		{ [ ! -x "$here/tc/$name.check" ] || "$here/tc/$name.check" "$out/$name" >>"$out/$name/log" 2>&1; }; then
		echo "ok $n - $name: $what"
	else
		echo "not ok $n - $name: $what"
		sed 's/^/# /' "$out/$name/result.tap" "$out/$name/log" | tail -40
		failed=1
	fi
done
exit $failed
