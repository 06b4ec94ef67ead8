// SPDX-License-Identifier: MIT
/*
 * port_read.c - read sections of the slow path, and the recursion guard: two
 * counters and an index that is flipped (SRCU's idea).
 *
 *   call                            context               may run against
 *   port_read_lock, _unlock, _held  any, signal handlers  everything
 *   port_guard_enter, _leave        any, signal handlers  (this thread's own)
 *   port_readers_flip, _of          control lock held     readers
 *   port_readers_forget             only thread there is  nothing
 *
 * Invariants
 *  R1 a reader adds 1 to the counter of the index it loaded, and takes the 1 away
 *     from the same counter, whatever became of the index in between;
 *  R2 a reader that was preempted between load and add may add to the side that
 *     the flipper has just seen empty. Its add is a full barrier and came after
 *     the flipper's look, so it sees what was stored before the flip; and since a
 *     grace period flips twice and looks at both sides, the next one sees it.
 */
#include "port_read.h"

#include "port_posix.h"

#define PORT_TLS __thread __attribute__((tls_model("initial-exec")))

static unsigned int gkhi_read_index;
static struct gkhi_read_side {
	unsigned long readers;
} __attribute__((aligned(64))) gkhi_read_side[2];

/* Nesting of this thread, over signal handlers: each level undoes its own step. */
static PORT_TLS unsigned int gkhi_read_depth;
static PORT_TLS bool gkhi_guarded;

unsigned int port_read_lock(void)
{
	unsigned int index;

	gkhi_read_depth++;
	__asm__ volatile("" ::: "memory");	/* held before counted */
	index = PORT_READ_ONCE(gkhi_read_index) & 1;
	__atomic_fetch_add(&gkhi_read_side[index].readers, 1, __ATOMIC_SEQ_CST);
	return index;
}

void port_read_unlock(unsigned int index)
{
	__atomic_fetch_sub(&gkhi_read_side[index].readers, 1, __ATOMIC_SEQ_CST);
	__asm__ volatile("" ::: "memory");
	gkhi_read_depth--;
}

bool port_read_held(void)
{
	return gkhi_read_depth != 0;
}

bool port_guard_enter(void)
{
	if (gkhi_guarded)
		return false;
	gkhi_guarded = true;
	__asm__ volatile("" ::: "memory");
	return true;
}

void port_guard_leave(void)
{
	__asm__ volatile("" ::: "memory");
	gkhi_guarded = false;
}

unsigned int port_readers_flip(void)
{
	return __atomic_fetch_add(&gkhi_read_index, 1, __ATOMIC_SEQ_CST) & 1;
}

unsigned long port_readers_of(unsigned int index)
{
	return __atomic_load_n(&gkhi_read_side[index & 1].readers, __ATOMIC_SEQ_CST);
}

void port_readers_forget(void)
{
	/* fork() from a handler that interrupted a section of this very thread: it will leave by itself. */
	if (gkhi_read_depth)
		return;
	PORT_WRITE_ONCE(gkhi_read_side[0].readers, 0);
	PORT_WRITE_ONCE(gkhi_read_side[1].readers, 0);
}
