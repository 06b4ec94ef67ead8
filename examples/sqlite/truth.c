// SPDX-License-Identifier: MIT
/*
 * truth.c - SQLite's own counters for a whole program, to hold a trace against.
 *
 * Linked into the workload, it stands between program and library: it defines a
 * few functions of SQLite's API and passes them on. The library's own calls of
 * them (sqlite3_exec, VACUUM, loading a schema) come through here too, since
 * libsqlite3.so calls its API through the PLT. A statement's counters are read
 * around each sqlite3_step(), where all its work is done; a pager's just before
 * its connection is closed. Nothing here knows of gkhi.
 *
 * At exit the sums go to the file named by SQLITE_TRUTH, else to stderr: one
 * "event number" per line, event being the one that must have the same count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sqlite3.h"

#define API __attribute__((visibility("default")))

enum counter { PREPARE, STEP, RESET, OPCODE, SORT, PAGE_READ, PAGE_WRITE, CACHE_SPILL, FSYNC, N_COUNTERS };

static const char *const names[N_COUNTERS] = {
	"prepare", "step", "reset", "opcode", "sort", "page_read", "page_write", "cache_spill", "fsync",
};

static uint64_t counters[N_COUNTERS];

/* What SQLite counts per statement. A statement that is compiled anew keeps its counters. */
static const struct {
	int op;
	enum counter counter;
} status[] = {
	{SQLITE_STMTSTATUS_VM_STEP, OPCODE},
	{SQLITE_STMTSTATUS_SORT, SORT},
	{SQLITE_STMTSTATUS_REPREPARE, PREPARE},
};
#define N_STATUS ((int)(sizeof(status) / sizeof(status[0])))

static void count(enum counter c, uint64_t n)
{
	__atomic_fetch_add(&counters[c], n, __ATOMIC_RELAXED);
}

/* The next definition of @name after this one: SQLite's, or the C library's. */
static void *next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f) {
		fprintf(stderr, "truth: %s not found: %s\n", name, dlerror());
		abort();
	}
	return f;
}

#define NEXT(name) __extension__({					\
	static __typeof__(&name) next_;					\
	if (!__atomic_load_n(&next_, __ATOMIC_ACQUIRE))			\
		__atomic_store_n(&next_, (__typeof__(&name))next(#name), __ATOMIC_RELEASE); \
	next_; })

API int sqlite3_prepare(sqlite3 *db, const char *sql, int n, sqlite3_stmt **stmt, const char **tail)
{
	count(PREPARE, 1);
	return NEXT(sqlite3_prepare)(db, sql, n, stmt, tail);
}

API int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int n, sqlite3_stmt **stmt, const char **tail)
{
	count(PREPARE, 1);
	return NEXT(sqlite3_prepare_v2)(db, sql, n, stmt, tail);
}

API int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int n, unsigned int flags, sqlite3_stmt **stmt, const char **tail)
{
	count(PREPARE, 1);
	return NEXT(sqlite3_prepare_v3)(db, sql, n, flags, stmt, tail);
}

API int sqlite3_step(sqlite3_stmt *stmt)
{
	uint32_t before[N_STATUS];
	int rc;

	count(STEP, 1);
	for (int i = 0; i < N_STATUS; i++)
		before[i] = (uint32_t)sqlite3_stmt_status(stmt, status[i].op, 0);
	rc = NEXT(sqlite3_step)(stmt);
	for (int i = 0; i < N_STATUS; i++)
		count(status[i].counter, (uint32_t)sqlite3_stmt_status(stmt, status[i].op, 0) - before[i]);
	return rc;
}

API int sqlite3_reset(sqlite3_stmt *stmt)
{
	if (stmt)
		count(RESET, 1);
	return NEXT(sqlite3_reset)(stmt);
}

static void count_pager(sqlite3 *db, enum counter c, int op)
{
	int now = 0, high = 0;

	if (sqlite3_db_status(db, op, &now, &high, 0) == SQLITE_OK)
		count(c, (uint32_t)now);
}

static void count_pagers(sqlite3 *db)
{
	if (!db)
		return;
	count_pager(db, PAGE_READ, SQLITE_DBSTATUS_CACHE_MISS);
	count_pager(db, PAGE_WRITE, SQLITE_DBSTATUS_CACHE_WRITE);
	count_pager(db, CACHE_SPILL, SQLITE_DBSTATUS_CACHE_SPILL);
}

API int sqlite3_close(sqlite3 *db)
{
	count_pagers(db);
	return NEXT(sqlite3_close)(db);
}

API int sqlite3_close_v2(sqlite3 *db)
{
	count_pagers(db);
	return NEXT(sqlite3_close_v2)(db);
}

API int fdatasync(int fd)
{
	count(FSYNC, 1);
	return NEXT(fdatasync)(fd);
}

API int fsync(int fd)
{
	count(FSYNC, 1);
	return NEXT(fsync)(fd);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("SQLITE_TRUTH");
	FILE *f = path ? fopen(path, "w") : stderr;

	if (!f) {
		perror(path);
		_exit(1);
	}
	for (int i = 0; i < N_COUNTERS; i++)
		fprintf(f, "%s %llu\n", names[i], (unsigned long long)counters[i]);
	if (path && fclose(f)) {
		perror(path);
		_exit(1);
	}
}
