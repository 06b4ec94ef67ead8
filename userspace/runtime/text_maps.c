// SPDX-License-Identifier: MIT
/*
 * text_maps.c - reads /proc/self/maps line by line into a buffer of its own.
 * A remote call may have stopped the process inside malloc: no heap, no stdio; and
 * syscall(), since open() and read() are points at which a thread is cancelled.
 */
#include "text_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int text_maps_open(struct text_maps_reader *r)
{
	r->at = r->filled = 0;
	r->fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	return r->fd < 0 ? -errno : 0;
}

void text_maps_close(struct text_maps_reader *r)
{
	syscall(SYS_close, r->fd);
}

/* The next byte; -1 at the end of the file. */
static int next_byte(struct text_maps_reader *r)
{
	if (r->at == r->filled) {
		ssize_t n;

		do {
			n = syscall(SYS_read, r->fd, r->buffer, sizeof(r->buffer));
		} while (n < 0 && errno == EINTR);
		if (n <= 0)
			return -1;
		r->at = 0;
		r->filled = (size_t)n;
	}
	return (unsigned char)r->buffer[r->at++];
}

static uintptr_t next_hex(struct text_maps_reader *r)
{
	uintptr_t value = 0;
	int ch;

	for (;;) {
		ch = next_byte(r);
		if (ch >= '0' && ch <= '9')
			value = value << 4 | (uintptr_t)(ch - '0');
		else if (ch >= 'a' && ch <= 'f')
			value = value << 4 | (uintptr_t)(ch - 'a' + 10);
		else
			return value;		/* behind the '-' or the space */
	}
}

/* "start-end rwxp offset device inode name\n" */
bool text_maps_next(struct text_maps_reader *r, struct text_map *map)
{
	int ch;

	map->start = next_hex(r);
	map->end = next_hex(r);
	map->prot = 0;
	if (next_byte(r) == 'r')
		map->prot |= PROT_READ;
	if (next_byte(r) == 'w')
		map->prot |= PROT_WRITE;
	if (next_byte(r) == 'x')
		map->prot |= PROT_EXEC;
	map->shared = next_byte(r) == 's';
	do {
		ch = next_byte(r);
	} while (ch != '\n' && ch != -1);
	return ch == '\n';
}
