// SPDX-License-Identifier: MIT
/*
 * log.c - one line to stderr, without harm to the host.
 *
 * Descriptor 2 may by now be a database or a socket (a program that closed it and
 * opened another file): it is written to only while it is still what it was when
 * the runtime started. A pipe without a reader must not raise SIGPIPE, a full one
 * must not block.
 */
#include <poll.h>
#include <string.h>
#include <sys/uio.h>

#include "port_posix.h"
#include "process.h"
#include "sys.h"
#include "strbuf.h"

#define GKHI_LOG_TEXTS	16

static struct {
	bool known;
	dev_t dev;
	ino_t ino;
	dev_t rdev;
} stderr_is;

void gkhi_log_init(void)
{
	struct stat st;

	if (sys_fstat(2, &st))
		return;
	stderr_is.dev = st.st_dev;
	stderr_is.ino = st.st_ino;
	stderr_is.rdev = st.st_rdev;
	stderr_is.known = true;
}

static bool same_stderr(void)
{
	struct pollfd pfd = { .fd = 2, .events = POLLOUT };
	struct timespec now = { 0, 0 };
	struct stat st;

	if (!stderr_is.known || sys_fstat(2, &st))
		return false;
	if (st.st_dev != stderr_is.dev || st.st_ino != stderr_is.ino || st.st_rdev != stderr_is.rdev)
		return false;
	return sys_call6(SYS_ppoll, (long)&pfd, 1, (long)&now, 0, 8, 0) == 1 && pfd.revents & POLLOUT;
}

/* Was this text written before? A text is known by its hash; a full table writes no more. */
static bool said_before(const char *line)
{
	static uint64_t said[GKHI_LOG_TEXTS];
	uint64_t hash = 14695981039346656037u;

	for (const char *s = line; *s && *s != '\n'; s++)
		hash = (hash ^ (unsigned char)*s) * 1099511628211u;
	hash |= 1;
	for (unsigned int i = 0; i < GKHI_LOG_TEXTS; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&said[i], &none, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return false;
		if (none == hash)
			return true;
	}
	return true;
}

/* With SIGPIPE and SIGXFSZ kept out: a pending one that is ours is taken back. */
static void write_quietly(const char *line, size_t n)
{
	const uint64_t fatal = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1);
	uint64_t old, pending = 0;
	struct timespec now = { 0, 0 };

	sys_sigmask(SIG_BLOCK, &fatal, &old);
	(void)sys_call3(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0);
	pending = fatal & ~pending;	/* those that can only be ours */
	if (sys_write(2, line, n) < 0)
		(void)sys_call4(SYS_rt_sigtimedwait, (long)&pending, 0, (long)&now, sizeof(pending));
	sys_restore_signals(&old);
}

void port_log(const char *line)
{
	char buf[512];
	struct strbuf t = sb_into(buf, sizeof(buf) - 1);
	const char *end = strchr(line, '\n');

	sb_str(&t, "gkhi: ");
	sb_bytes(&t, line, end ? (size_t)(end - line) : strlen(line));
	if (said_before(buf) || !same_stderr())
		return;
	*t.at++ = '\n';
	write_quietly(buf, (size_t)(t.at - buf));
}
