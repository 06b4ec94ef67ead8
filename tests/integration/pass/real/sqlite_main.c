// SPDX-License-Identifier: MIT
/* A workload that adds up what SQLite's own counters say; the trace must agree. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long steps, rows, vm_steps, sum;

static void run(sqlite3 *db, const char *sql, int argument)
{
	sqlite3_stmt *stmt;
	int rc;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
	sqlite3_bind_int(stmt, 1, argument);
	do {
		rc = sqlite3_step(stmt);
		steps++;
		if (rc == SQLITE_ROW) {
			rows++;
			sum = sum * 31 + (unsigned long)sqlite3_column_int64(stmt, 0);
		}
	} while (rc == SQLITE_ROW);
	if (rc != SQLITE_DONE) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
	vm_steps += (unsigned long)sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0);
	sqlite3_finalize(stmt);
}

int main(int argc, char **argv)
{
	int writes = 0, high = 0, i;
	sqlite3 *db;

	if (argc != 2 || sqlite3_open(argv[1], &db) != SQLITE_OK)
		return 1;
	run(db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c TEXT)", 0);
	run(db, "CREATE INDEX t_b ON t(b)", 0);
	run(db, "BEGIN", 0);
	for (i = 0; i < 400; i++)
		run(db, "INSERT INTO t(b, c) VALUES((?1 * 7919) % 1009, hex(zeroblob(?1 % 97)))", i);
	run(db, "COMMIT", 0);
	for (i = 0; i < 20; i++)
		run(db, "SELECT count(*) FROM t WHERE b > ?1", i * 50);
	run(db, "UPDATE t SET c = c || b WHERE a % 3 = ?1", 1);
	run(db, "SELECT length(c) FROM t ORDER BY c, a LIMIT 100 + ?1", 1);
	run(db, "DELETE FROM t WHERE a % 5 = ?1", 2);
	run(db, "SELECT a * b FROM t WHERE a > ?1", 17);
	/* Statements that SQLite runs on its own (CREATE's) are steps of no statement of ours. */
	sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_WRITE, &writes, &high, 0);
	printf("steps=%lu rows=%lu vm_steps=%lu page_writes=%d sum=%lx\n", steps, rows, vm_steps, writes, sum);
	return sqlite3_close(db) == SQLITE_OK ? 0 : 1;
}
