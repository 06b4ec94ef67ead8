#!/bin/bash
# SPDX-License-Identifier: MIT
# description: the trace counts what SQLite counts: opcodes, steps, page reads and writes, spills, sorts, syncs, run after run.
# usage: counts_test.sh BUILD_DIR SOURCE_DIR STATE. STATE is static or marker; the runs differ in journal, cache and test set.
BUILD=$1 SOURCE=$2 STATE=$3
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run() { # NAME ARGUMENT...
	local name=$1
	shift
	rm -rf "$tmp/db"* "$tmp/trace"
	"$example/speedtest1" "$@" --verify "$tmp/db" >"$tmp/plain" 2>/dev/null
	rm -f "$tmp/db"*
	SQLITE_TRUTH=$tmp/truth "$gkhi" record --event "sqlite:*=$STATE" --subbuf-size 1M --subbufs 64 -o "$tmp/trace" -- \
		"$example/speedtest1" "$@" --verify "$tmp/db" >"$tmp/traced" 2>"$tmp/err" ||
		{ cat "$tmp/err" >&2; fail "$name: gkhi record failed"; }
	echo "== $name, $STATE"
	"$SOURCE/examples/sqlite/compare.sh" "$gkhi" "$tmp/trace" "$tmp/truth" || fail "$name: counts differ"
	# A count of nothing equals nothing: each run must have done what it is there for.
	awk -v name="$name" '$1 == "opcode" || $1 == "page_write" || $1 == "fsync" { if ($2 + 0 == 0) bad = bad " " $1 } END { if (bad) { print "nothing counted:" bad; exit 1 } }' \
		"$tmp/truth" || fail "$name: the workload did not do its work"
	diff <(results "$tmp/plain") <(results "$tmp/traced") || fail "$name: SQLite's results differ when traced"
}

run "rollback journal, small cache" --size 2 --cachesize 20
run "write-ahead log, small cache" --size 2 --cachesize 20 --journal wal --checkpoint
run "default" --size 2
run "object-relational" --size 3 --testset orm
echo ok
