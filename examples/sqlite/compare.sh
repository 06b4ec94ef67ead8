#!/bin/bash
# SPDX-License-Identifier: MIT
# Hold a trace of the workload against SQLite's own counters: compare.sh GKHI TRACE TRUTH
#
# Prints, per event, what SQLite counted, what `gkhi report` finds and what babeltrace2 finds. Exits 1 when they differ.
set -euo pipefail
gkhi=$1 trace=$2 truth=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$gkhi" report --stat --strict "$trace" >"$tmp/report" || { cat "$tmp/report" >&2; echo "compare.sh: events are missing from $trace" >&2; exit 1; }
babeltrace2 --no-delta --clock-cycles "$trace" >"$tmp/text" 2>"$tmp/babeltrace2.err" ||
	{ cat "$tmp/babeltrace2.err" >&2; echo "compare.sh: babeltrace2 does not read $trace" >&2; exit 1; }
# "[cycles] sqlite:opcode: { ... }": the name is the first word that ends in a colon and has one inside.
awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[a-z0-9_]+:[a-z0-9_]+:$/) { n[substr($i, 1, length($i) - 1)]++; break } }
	END { for (e in n) print e, n[e] }' "$tmp/text" >"$tmp/babeltrace2"

awk -v report="$tmp/report" -v other="$tmp/babeltrace2" '
	BEGIN {
		while ((getline line < report) > 0) { split(line, w, " "); if (w[1] ~ /^sqlite:/) ours[w[1]] = w[2] }
		while ((getline line < other) > 0) { split(line, w, " "); if (w[1] ~ /^sqlite:/) theirs[w[1]] = w[2] }
		printf "  %-24s %12s %12s %12s\n", "event", "SQLite", "gkhi report", "babeltrace2"
	}
	{ name = "sqlite:" $1; truth[name] = $2; row(name, $2) }
	END {
		for (name in theirs) if (!(name in ours)) row(name, "")
		for (name in ours) if (!(name in truth)) rest[++n] = name
		for (i = 1; i <= n; i++) row(rest[i], "")
		if (NR == 0) { print "compare.sh: SQLite counted nothing" > "/dev/stderr"; exit 1 }
		exit bad
	}
	function row(name, want,   same) {
		same = ours[name] + 0 == theirs[name] + 0 && (want == "" || want == ours[name] + 0)
		if (!same) bad = 1
		printf "  %-24s %12s %12d %12d  %s\n", name, want == "" ? "-" : want, ours[name], theirs[name], same ? "same" : "DIFFERENT"
	}' "$truth"
