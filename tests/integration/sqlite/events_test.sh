#!/bin/bash
# SPDX-License-Identifier: MIT
# description: every event of sqlite.yaml fires, with the values that the SQL implies.
# usage: events_test.sh BUILD_DIR SOURCE_DIR
BUILD=$1 SOURCE=$2
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$tmp/in.sql" <<'SQL'
PRAGMA temp_store=file;
PRAGMA cache_size=10;
CREATE TABLE t(a, b);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60000) INSERT INTO t SELECT i, hex(randomblob(50)) FROM n;
COMMIT;
BEGIN; UPDATE t SET a=-a; ROLLBACK;
CREATE INDEX i ON t(b);
SELECT count(*) FROM (SELECT b FROM t ORDER BY b LIMIT 50000);
SELECT no_such_column FROM t;
CREATE VIRTUAL TABLE f USING fts3(x);
INSERT INTO f VALUES('a b'), ('b c');
PRAGMA journal_mode=wal;
INSERT INTO t VALUES('x', 'y');
PRAGMA wal_checkpoint(truncate);
SQL
SQLITE_TRUTH=$tmp/truth "$gkhi" record --event 'sqlite:*=static' --subbuf-size 1M --subbufs 128 -o "$tmp/trace" -- \
	"$example/sqlite3-shell" "$tmp/db" <"$tmp/in.sql" >"$tmp/out" 2>"$tmp/err" || true
"$gkhi" report "$tmp/trace" >"$tmp/text" || fail "no report"

while read -r event; do
	grep -q " $event: " "$tmp/text" || { echo "missing: $event"; missing=1; }
done < <(sed -n 's/^  - name: /sqlite:/p' "$SOURCE/examples/sqlite/sqlite.yaml")
[ -z "${missing:-}" ] || { head -n 20 "$tmp/err" >&2; fail "events that did not fire"; }

has() { grep -qE "$1" "$tmp/text" || fail "no line like: $1"; }
has 'sqlite:prepare: stmt=0x[0-9a-f]+ again=[^ ]+ rc=ok sql="?CREATE TABLE t\(a, b\);'
has 'sqlite:prepare: stmt=(0x)?0 .*rc=error sql="?SELECT no_such_column'
has 'sqlite:step: stmt=0x[0-9a-f]+ rc=row'
has 'sqlite:step: stmt=0x[0-9a-f]+ rc=done'
has 'sqlite:opcode: op=Init pc=0 '
has 'sqlite:lock: fd=[0-9]+ want=reserved have=reserved rc=ok'
has 'sqlite:lock: fd=[0-9]+ want=exclusive have=exclusive rc=ok'
has 'sqlite:unlock: fd=[0-9]+ from=shared to=none rc=ok'
has 'sqlite:journal_open: mode=delete rc=ok file="?.*/db'
has 'sqlite:transaction_end: commit=(0|false) '
has 'sqlite:transaction_end: commit=(1|true) '
has 'sqlite:page_write: page=[0-9]+ wal=(1|true) temp=(0|false) file="?.*/db-wal'
has 'sqlite:checkpoint: mode=truncate frames='
has 'sqlite:sort_spill: runs=1 bytes=[0-9]{4,} rc=ok'
echo ok
