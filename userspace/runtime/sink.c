// SPDX-License-Identifier: MIT
/*
 * sink.c - where a text backend's lines go: stderr, a file, or syslog's socket.
 *
 *   call                context                          may run against
 *   port_sink_open      control lock held                nothing of this sink
 *   port_sink_close     control lock held, no writers    nothing of this sink
 *   port_sink_write     any, signal handlers             itself
 *   port_nanoseconds    any, signal handlers             everything
 *
 * The host's rules:
 *  - a line is one system call, so lines of several threads do not mix;
 *  - the descriptor is a copy of ours, out of the way of the host's; and since
 *    some hosts close whatever they did not open, it is used only while it still
 *    is the same file: nothing of ours ever goes into a file of theirs;
 *  - neither a reader that went away (SIGPIPE) nor a file-size limit (SIGXFSZ)
 *    may kill the host: both are blocked, and taken back if it was us;
 *  - nor may one that does not read hold it up: a full pipe, a stopped terminal
 *    loses the line, a FIFO that nobody has open is refused.
 */
#include <linux/time_types.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "file.h"
#include "port_posix.h"
#include "sys.h"

#define FIRST_FD	200		/* of ours, if there is room */
#define SYSLOG_PATH	"/dev/log"
#define SYSLOG_FACILITY	(1 << 3)	/* user */
#define LINE_MAX_BYTES	1280

struct port_sink {
	int fd;
	uint64_t dev;
	uint64_t ino;
	bool syslog;
	char tag[48];			/* "comm[pid]: " */
	struct sockaddr_un peer;
};

uint64_t port_nanoseconds(void)
{
	struct timespec ts = { 0, 0 };

	(void)sys_call3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A copy of @fd among the high numbers; takes over and closes @fd if it is ours. */
static int move_away(int fd, bool ours)
{
	int high = (int)sys_call3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST_FD);

	if (high < 0)
		high = (int)sys_call3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	if (ours)
		sys_close(fd);
	return high;
}

static char *append(char *to, const char *end, const char *text)
{
	while (*text && to < end)
		*to++ = *text++;
	*to = 0;
	return to;
}

static char *append_number(char *to, const char *end, unsigned long n)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = 0;
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	return append(to, end, digits + at);
}

static void make_tag(struct port_sink *sink)
{
	const char *end = sink->tag + sizeof(sink->tag) - 1;
	char comm[17] = "";
	char *to;
	int fd = sys_openat(AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : sys_read(fd, comm, sizeof(comm) - 1);

	if (fd >= 0)
		sys_close(fd);
	comm[n > 0 ? n - 1 : 0] = 0;	/* the line end */
	to = append(sink->tag, end, comm[0] ? comm : "gkhi");
	to = append(to, end, "[");
	to = append_number(to, end, port_pid());
	append(to, end, "]: ");
}

/* "syslog" or "syslog:/path/of/socket" */
static int open_syslog(struct port_sink *sink, const char *path)
{
	int fd, err;

	sink->syslog = true;
	sink->peer.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(sink->peer.sun_path))
		return -ENAMETOOLONG;
	memcpy(sink->peer.sun_path, path, strlen(path) + 1);
	make_tag(sink);
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	err = (int)sys_call3(SYS_connect, fd, (long)&sink->peer, sizeof(sink->peer));
	if (err) {
		sys_close(fd);
		return err;
	}
	return move_away(fd, true);
}

static int open_target(struct port_sink *sink, const char *target)
{
	int fd;

	if (!strcmp(target, "stderr"))
		return move_away(STDERR_FILENO, false);
	if (!strcmp(target, "syslog"))
		return open_syslog(sink, SYSLOG_PATH);
	if (!strncmp(target, "syslog:", 7))
		return open_syslog(sink, target + 7);
	fd = file_open(AT_FDCWD, target, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0600);
	return fd < 0 ? fd : move_away(fd, true);
}

int port_sink_open(const char *target, struct port_sink **out)
{
	struct port_sink *sink = port_alloc(sizeof(*sink));
	struct stat st;
	int err;

	if (!sink)
		return -ENOMEM;
	sink->fd = open_target(sink, target);
	err = sink->fd < 0 ? sink->fd : sys_fstat(sink->fd, &st);
	if (err) {
		if (sink->fd >= 0)
			sys_close(sink->fd);
		port_free(sink, sizeof(*sink));
		return err;
	}
	sink->dev = st.st_dev;
	sink->ino = st.st_ino;
	*out = sink;
	return 0;
}

static bool still_ours(const struct port_sink *sink)
{
	struct stat st;

	return !sys_fstat(sink->fd, &st) && st.st_dev == sink->dev && st.st_ino == sink->ino;
}

void port_sink_close(struct port_sink *sink)
{
	if (still_ours(sink))
		sys_close(sink->fd);
	port_free(sink, sizeof(*sink));
}

#define BIT(signal)	(1ull << ((signal) - 1))

/* A write would wait. stderr's O_NONBLOCK is the host's own, and of all who share it. */
static bool is_full(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	const struct timespec now = { 0, 0 };

	return !sys_call6(SYS_ppoll, (long)&pfd, 1, (long)&now, 0, 8, 0);
}

/* write() that does not wait, and whose signals do not reach the host. */
static long quiet_write(int fd, const char *text, size_t n)
{
	const uint64_t ours = BIT(SIGPIPE) | BIT(SIGXFSZ);
	const struct timespec now = { 0, 0 };
	uint64_t mask, pending = 0;
	long done;

	if (is_full(fd))
		return -EAGAIN;
	sys_sigmask(SIG_BLOCK, &ours, &mask);
	(void)sys_call3(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0);
	do
		done = sys_write(fd, text, n);
	while (done == -EINTR);
	if (done == -EPIPE || done == -EFBIG) {
		uint64_t raised = BIT(done == -EPIPE ? SIGPIPE : SIGXFSZ) & ~pending;

		if (raised)
			(void)sys_call4(SYS_rt_sigtimedwait, (long)&raised, 0, (long)&now, sizeof(raised));
	}
	sys_sigmask(SIG_SETMASK, &mask, NULL);
	return done;
}

/*
 * "<14>comm[pid]: text", as RFC 3164 has it but for the time: the receiver knows
 * it, and local time cannot be told in a signal handler.
 */
static int write_syslog(struct port_sink *sink, unsigned int level, const char *text, size_t n)
{
	char datagram[LINE_MAX_BYTES];
	const char *end = datagram + sizeof(datagram) - 1;
	char *to = append(datagram, end, "<");
	long done;

	to = append_number(to, end, SYSLOG_FACILITY | (level & 7));
	to = append(to, end, ">");
	to = append(to, end, sink->tag);
	while (n && text[n - 1] == '\n')
		n--;
	if (n > (size_t)(end - to))
		n = (size_t)(end - to);
	memcpy(to, text, n);
	n += (size_t)(to - datagram);
	done = sys_call6(SYS_sendto, sink->fd, (long)datagram, (long)n, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
	if (done == -ECONNREFUSED || done == -ENOTCONN || done == -ECONNRESET) {
		/* syslogd was started anew */
		if (!sys_call3(SYS_connect, sink->fd, (long)&sink->peer, sizeof(sink->peer)))
			done = sys_call6(SYS_sendto, sink->fd, (long)datagram, (long)n,
					 MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
	}
	return done == (long)n ? 0 : -EIO;
}

int port_sink_write(struct port_sink *sink, unsigned int level, const char *text, size_t n)
{
	if (!still_ours(sink))
		return -EBADF;
	if (sink->syslog)
		return write_syslog(sink, level, text, n);
	return quiet_write(sink->fd, text, n) == (long)n ? 0 : -EIO;
}
