// SPDX-License-Identifier: MIT
/*
 * file.c - files of a traced process, made so that the host cannot be hurt.
 *
 * - Descriptors 0 to 2 are the program's even while it has them closed: were a
 *   file of ours descriptor 1 for an instant, another thread's printf would
 *   land in it.
 * - Space is allocated before it is mapped: a store to a page that the file
 *   system has no room for is a SIGBUS.
 * - Growing a file past RLIMIT_FSIZE is a SIGXFSZ; so the limit is asked first.
 * - Address space under RLIMIT_AS is the program's: ours must be a small part.
 *
 * No descriptor stays open: programs that close all descriptors reuse the numbers.
 */
#include <sys/resource.h>

#include "file.h"
#include "sys.h"
#include "strbuf.h"

/* Put O_PATH descriptors (as useless as closed ones) at the holes in 0..2. */
static unsigned int fill_holes(int holes[3])
{
	unsigned int n = 0;

	for (int fd = 0; fd < 3; fd++) {
		int got;

		if (sys_call3(SYS_fcntl, fd, F_GETFD, 0) != -EBADF)
			continue;
		got = sys_openat(AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
		if (got < 0)
			break;
		holes[n++] = got;
	}
	return n;
}

int file_open(int dir, const char *path, int flags, int mode)
{
	int holes[3];
	unsigned int n = fill_holes(holes);
	int fd;

	do
		fd = sys_openat(dir, path, flags | O_CLOEXEC | O_NOCTTY, mode);
	while (fd == -EINTR);
	while (n)
		sys_close(holes[--n]);
	if (fd >= 0 && fd < 3) {	/* a hole could not be filled, or opened just now */
		sys_close(fd);
		return -EMFILE;
	}
	return fd;
}

long file_read(const char *path, char *buf, size_t size)
{
	int fd = file_open(AT_FDCWD, path, O_RDONLY, 0);
	size_t have = 0;
	long got = fd;

	buf[0] = 0;
	if (fd < 0)
		return fd;
	while (have < size - 1) {
		got = sys_read(fd, buf + have, size - 1 - have);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	sys_close(fd);
	buf[have] = 0;
	return got < 0 ? got : (long)have;
}

static struct rlimit limit_of(int resource)
{
	struct rlimit lim = { RLIM_INFINITY, RLIM_INFINITY };

	(void)sys_call4(SYS_prlimit64, 0, resource, 0, (long)&lim);
	return lim;
}

/* Would a mapping of @size eat up what the program may still map? */
static int check_address_space(size_t size)
{
	struct rlimit lim = limit_of(RLIMIT_AS);
	char buf[128];
	const char *s = buf;
	uint64_t pages;

	if (lim.rlim_cur == RLIM_INFINITY)
		return 0;
	if (file_read("/proc/self/statm", buf, sizeof(buf)) <= 0 || !sb_parse_dec(&s, &pages))
		return -ENOMEM;
	if (pages * 4096 >= lim.rlim_cur || size > (lim.rlim_cur - pages * 4096) / 4)
		return -ENOMEM;
	return 0;
}

/* Zeros where fallocate() is not supported. */
static int write_zeros(int fd, size_t offset, size_t size)
{
	static const char zeros[4096];

	while (offset < size) {
		size_t n = size - offset < sizeof(zeros) ? size - offset : sizeof(zeros);
		long put = sys_call4(SYS_pwrite64, fd, (long)zeros, (long)n, (long)offset);

		if (put == -EINTR)
			continue;
		if (put <= 0)
			return put ? (int)put : -ENOSPC;
		offset += (size_t)put;
	}
	return 0;
}

static int allocate(int fd, size_t offset, size_t size)
{
	int err;

	if (limit_of(RLIMIT_FSIZE).rlim_cur < size)
		return -EFBIG;
	do
		err = (int)sys_call4(SYS_fallocate, fd, 0, (long)offset, (long)(size - offset));
	while (err == -EINTR);
	if (err == -EOPNOTSUPP || err == -ENOSYS)
		err = write_zeros(fd, offset, size);
	return err;
}

static int map_range(int fd, size_t offset, size_t size, void **addr)
{
	long at;
	int err = check_address_space(size - offset);

	if (err)
		return err;
	at = sys_mmap(NULL, size - offset, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (long)offset);
	if (at < 0 && at > -4096)
		return (int)at;
	*addr = (void *)at;
	return 0;
}

int file_map_new(const char *path, size_t size, void **addr)
{
	int fd = file_open(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	int err;

	if (fd < 0)
		return fd;
	err = allocate(fd, 0, size);
	if (!err)
		err = map_range(fd, 0, size, addr);
	sys_close(fd);
	if (err)
		sys_unlinkat(AT_FDCWD, path, 0);
	return err;
}

int file_map_grown(const char *path, size_t offset, size_t size, void **addr)
{
	int fd = file_open(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0);
	struct stat st;
	int err;

	if (fd < 0)
		return fd;
	err = sys_fstat(fd, &st);
	if (!err && (size_t)st.st_size < size)
		err = allocate(fd, (size_t)st.st_size, size);
	if (!err)
		err = map_range(fd, offset, size, addr);
	sys_close(fd);
	return err;
}

int file_cut(const char *path, size_t size)
{
	int fd = file_open(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0);
	int err = fd;

	if (fd < 0)
		return err;
	err = (int)sys_call3(SYS_ftruncate, fd, (long)size, 0);
	sys_close(fd);
	return err;
}
