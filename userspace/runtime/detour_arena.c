// SPDX-License-Identifier: MIT
/*
 * detour_arena.c - memory for detours, within reach of a 32-bit jump from the pads
 * of a module and back. Control lock held; nothing is ever given back.
 *
 * A chunk is a memfd that is mapped twice: written through one mapping, executed
 * through the other. So no page is ever writable and executable at one address,
 * and policies that forbid just that (MemoryDenyWriteExecute) are content. Where
 * there is no memfd, one mapping with all three permissions is tried.
 *
 * After a fork parent and child share the pages of a chunk: each makes a new one
 * for what it writes from then on.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "detour.h"

#ifndef MFD_EXEC
#define MFD_EXEC	0x0010u
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE	0x100000
#endif

#define ARENA_CHUNK	(256ul << 10)
#define ARENA_REACH	((1ul << 31) - (1ul << 20))	/* of a jump, with room for the module */
#define ARENA_ALIGN	64ul

struct arena_chunk {
	struct arena_chunk *next;
	uint8_t *write;
	uintptr_t exec;
	size_t used, size;
	long pid;
};

static struct arena_chunk *arena_chunks;

/* A module's heap grows upwards behind it, so below first; above from the far end. */
static uintptr_t map_near(uintptr_t near, size_t size, int prot, int flags, int fd)
{
	static const unsigned long steps[] = { 64ul << 20, 1ul << 20 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		unsigned long n = ARENA_REACH / steps[i] - 1, k;

		for (k = 1; k <= 2 * n; k++) {
			unsigned long distance = k <= n ? k * steps[i] : (2 * n + 1 - k) * steps[i];
			uintptr_t at = (k <= n ? near - distance : near + distance) & ~4095ul;
			void *p;

			if ((k <= n) != (at < near) || at < (1ul << 16))
				continue;
			p = mmap((void *)at, size, prot, flags | MAP_FIXED_NOREPLACE, fd, 0);
			if (p == (void *)at)
				return at;
			if (p != MAP_FAILED)
				munmap(p, size);	/* a kernel that took it for a hint */
			else if (errno != EEXIST)
				return 0;
		}
	}
	return 0;
}

/* A file size limit sends SIGXFSZ, which would kill the program. */
static bool file_size_allowed(size_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= size;
}

static int chunk_file(size_t size)
{
	long fd;

	if (!file_size_allowed(size))
		return -1;
	fd = syscall(SYS_memfd_create, "gkhi-detours", MFD_CLOEXEC | MFD_EXEC);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_memfd_create, "gkhi-detours", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	/* Allocated, not sparse: a page that is missing later would be SIGBUS. */
	if (syscall(SYS_ftruncate, fd, size) || syscall(SYS_fallocate, fd, 0, 0, size)) {
		syscall(SYS_close, fd);
		return -1;
	}
	return (int)fd;
}

static bool map_twice(struct arena_chunk *chunk, uintptr_t near)
{
	int fd = chunk_file(chunk->size);
	void *write;

	if (fd < 0)
		return false;
	write = mmap(NULL, chunk->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (write != MAP_FAILED) {
		chunk->exec = map_near(near, chunk->size, PROT_READ | PROT_EXEC, MAP_SHARED, fd);
		if (!chunk->exec)
			munmap(write, chunk->size);
	}
	syscall(SYS_close, fd);
	chunk->write = write;
	return write != MAP_FAILED && chunk->exec;
}

static bool map_once(struct arena_chunk *chunk, uintptr_t near)
{
	chunk->exec = map_near(near, chunk->size, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	chunk->write = (uint8_t *)chunk->exec;
	return chunk->exec;
}

static struct arena_chunk *chunk_new(uintptr_t near, size_t size, long pid)
{
	struct arena_chunk *chunk = port_alloc(sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->size = size > ARENA_CHUNK ? (size + 4095) & ~4095ul : ARENA_CHUNK;
	chunk->pid = pid;
	if (!map_twice(chunk, near) && !map_once(chunk, near)) {
		port_free(chunk, sizeof(*chunk));
		return NULL;
	}
	chunk->next = arena_chunks;
	arena_chunks = chunk;
	return chunk;
}

static bool within_reach(const struct arena_chunk *chunk, uintptr_t near)
{
	uintptr_t end = chunk->exec + chunk->size;

	return (near > chunk->exec ? near - chunk->exec : chunk->exec - near) < ARENA_REACH &&
	       (near > end ? near - end : end - near) < ARENA_REACH;
}

static void space_of(struct arena_chunk *chunk, struct detour_space *space)
{
	space->write = chunk->write + chunk->used;
	space->exec = chunk->exec + chunk->used;
	space->size = chunk->size - chunk->used;
}

int detour_arena_get(uintptr_t near, size_t size, struct detour_space *space)
{
	long pid = syscall(SYS_getpid);
	struct arena_chunk *chunk;

	for (chunk = arena_chunks; chunk; chunk = chunk->next)
		if (chunk->pid == pid && chunk->size - chunk->used >= size && within_reach(chunk, near))
			break;
	if (!chunk)
		chunk = chunk_new(near, size, pid);
	if (!chunk)
		return -ENOSPC;
	space_of(chunk, space);
	return 0;
}

void detour_arena_commit(const struct detour_space *space, size_t used)
{
	struct arena_chunk *chunk;

	for (chunk = arena_chunks; chunk; chunk = chunk->next)
		if (chunk->exec + chunk->used == space->exec)
			break;
	if (chunk)
		chunk->used += (used + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
}
