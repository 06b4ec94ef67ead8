#!/bin/bash
# SPDX-License-Identifier: MIT
# The benchmark, whole: build, measure side by side in one run, write build/bench/user.json and print the table.
#
#   BENCH_PASSES, BENCH_ROUNDS, BENCH_COLD_ROUNDS   shorter or longer (defaults: 5, 300, 100)
#   BUILD                                           build folder (default: build)
#
# Runs as root or not; as root everything that is measured runs as an unprivileged user, beside an LTTng session daemon of that
# user's, and root only places the uprobe. A target that is missed is printed, and is no error.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${BUILD:-$top/build}
cmake --build "$build" --target bench -j"$(nproc)" >"$build/bench-build.log" 2>&1 ||
	{ tail -n 30 "$build/bench-build.log" >&2; echo "run.sh: the benchmark does not build" >&2; exit 1; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/gkhi-bench.XXXXXX")
# shellcheck source-path=SCRIPTDIR source=lttng-session.sh
. "$here/lttng-session.sh"
# shellcheck source-path=SCRIPTDIR source=uprobe.sh
. "$here/uprobe.sh"
finish() {
	uprobe_stop >/dev/null 2>&1 || true
	lttng_kill
	rm -rf "$dir"
}
trap finish EXIT
mkdir -m 700 "$dir/gkhi"
# The build folder may be root's alone: what an unprivileged user runs is copied.
cp "$build"/bin/gkhi-bench "$build"/bin/gkhi-bench-many "$build"/lib/libgkhi.so* "$dir"
[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$dir"
chmod 755 "$dir"

lttng_start "$dir"
uprobe_start "$dir" "$dir/gkhi-bench"
as_user() {
	(
		export LD_LIBRARY_PATH=$dir GKHI_DIR=$dir/gkhi BENCH_DIR=$dir BENCH_LTTNG=$LTTNG_STATE BENCH_UPROBE=$UPROBE_STATE
		lttng_exec "$@"
	)
}
as_user timeout 600 "$dir/gkhi-bench" --passes "${BENCH_PASSES:-5}" --rounds "${BENCH_ROUNDS:-300}" \
	--cold-rounds "${BENCH_COLD_ROUNDS:-100}" -o "$dir/raw.json"
uprobe_stop
lttng_stop "$dir"

if ! as_user timeout 300 "$dir/gkhi-bench-many" >"$dir/switch.rows.new"; then
	echo "user.switch_10k_ms - skipped: gkhi-bench-many failed" >"$dir/switch.rows.new"
fi
mv "$dir/switch.rows.new" "$dir/switch.rows"

"$here/disabled.sh" "$dir" "$build/tests/bench/gkhi/gkhi-bench-lookup" gkhi_lookup.h "$top/hooks/include"
"$here/pass_cost.sh" "$dir" "$build/bin"
"$here/genevent-time.sh" "$build/bin/genevent" "$dir"

"$here/report.py" "$dir" "$build/bench/user.json"
"$here/check.py" "$build/bench/user.json"
