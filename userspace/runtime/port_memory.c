// SPDX-License-Identifier: MIT
/*
 * port_memory.c - the runtime's own memory: pages from mmap and free lists by
 * size, since a request may run in a thread that was stopped inside malloc.
 *
 *   call                   context              may run against
 *   port_alloc, port_free  control lock held    nothing
 *
 * Small blocks are cut one after the other from 1 MiB chunks, so that what is
 * registered together lies together; a switch of thousands of hooks walks it.
 */
#include <sys/mman.h>

#include "port_posix.h"

#define PORT_CHUNK	(1ul << 20)
#define PORT_GRAIN	16ul
#define PORT_LINE	64ul		/* whole lines begin at a line */
#define PORT_SMALL	1024ul		/* up to here a class per 16 bytes */
#define PORT_LARGE	65536ul		/* from here on pages of its own */
#define PORT_N_SMALL	(PORT_SMALL / PORT_GRAIN)
#define PORT_N_CLASSES	(PORT_N_SMALL + 6)	/* 2 K, 4 K, ... 64 K */

struct port_free_block {
	struct port_free_block *next;
};

static struct port_free_block *gkhi_free[PORT_N_CLASSES];
static char *gkhi_chunk;
static size_t gkhi_chunk_left;

static void *port_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static size_t port_page_round(size_t size)
{
	return (size + 4095) & ~4095ul;
}

/* Index of the class of @size, and the bytes its blocks have. */
static unsigned int port_class(size_t size, size_t *bytes)
{
	unsigned int class = PORT_N_SMALL;

	if (size <= PORT_SMALL) {
		*bytes = size ? (size + PORT_GRAIN - 1) & ~(PORT_GRAIN - 1) : PORT_GRAIN;
		return (unsigned int)(*bytes / PORT_GRAIN) - 1;
	}
	for (*bytes = 2 * PORT_SMALL; *bytes < size; *bytes *= 2)
		class++;
	return class;
}

static void *port_cut(size_t bytes)
{
	size_t skip = bytes % PORT_LINE ? 0 : -(uintptr_t)gkhi_chunk % PORT_LINE;
	void *p;

	if (bytes + skip > gkhi_chunk_left) {
		/* The rest of the old chunk stays unused: less than one block. */
		char *chunk = port_pages(PORT_CHUNK);

		if (!chunk)
			return NULL;
		gkhi_chunk = chunk;
		gkhi_chunk_left = PORT_CHUNK;
		skip = 0;
	}
	gkhi_chunk += skip;
	gkhi_chunk_left -= skip;
	p = gkhi_chunk;
	gkhi_chunk += bytes;
	gkhi_chunk_left -= bytes;
	return p;
}

void *port_alloc(size_t size)
{
	int saved = errno;
	struct port_free_block *block;
	unsigned int class;
	size_t bytes;
	void *p;

	if (size > PORT_LARGE) {
		p = size > SIZE_MAX / 2 ? NULL : port_pages(port_page_round(size));
	} else {
		class = port_class(size, &bytes);
		block = gkhi_free[class];
		if (block) {
			gkhi_free[class] = block->next;
			p = memset(block, 0, bytes);
		} else {
			p = port_cut(bytes);
		}
	}
	errno = saved;
	return p;
}

void port_free(void *p, size_t size)
{
	struct port_free_block *block = p;
	unsigned int class;
	size_t bytes;
	int saved = errno;

	if (!p)
		return;
	if (size > PORT_LARGE) {
		munmap(p, port_page_round(size));
		errno = saved;
		return;
	}
	class = port_class(size, &bytes);
	block->next = gkhi_free[class];
	gkhi_free[class] = block;
}
