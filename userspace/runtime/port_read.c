// SPDX-License-Identifier: MIT
/*
 * port_read.c - read sections of the slow path, and the grace period that waits
 * for them: two counters and an index that is flipped (SRCU's idea).
 *
 *   call                context              may run against
 *   port_read_lock      any, signal handlers everything
 *   port_read_unlock    any, signal handlers everything
 *   port_readers_flip   control lock held    readers
 *
 * Invariants
 *  R1 a reader adds 1 to the counter of the index it loaded, and takes the 1 away
 *     from the same counter, whatever happened to the index in between;
 *  R2 a reader that loaded the index just before a flip may add to the old
 *     counter after the flipper saw 0 there: it began after the flip's pointer
 *     stores (the add is a full barrier), so it sees only new pointers, and
 *     waiting for both counters in turn, twice, covers the one that was preempted
 *     between load and add in the flip before.
 */
#include "port_posix.h"
#include "port_read.h"

static struct {
	unsigned int index;
	struct {
		unsigned long readers;
	} __attribute__((aligned(64))) side[2];
} gkhi_readers;

unsigned int port_read_lock(void)
{
	unsigned int index = __atomic_load_n(&gkhi_readers.index, __ATOMIC_RELAXED) & 1;

	__atomic_fetch_add(&gkhi_readers.side[index].readers, 1, __ATOMIC_SEQ_CST);
	return index;
}

void port_read_unlock(unsigned int index)
{
	__atomic_fetch_sub(&gkhi_readers.side[index].readers, 1, __ATOMIC_SEQ_CST);
}

unsigned int port_readers_flip(void)
{
	return __atomic_fetch_add(&gkhi_readers.index, 1, __ATOMIC_SEQ_CST) & 1;
}

unsigned long port_readers_of(unsigned int index)
{
	return __atomic_load_n(&gkhi_readers.side[index & 1].readers, __ATOMIC_SEQ_CST);
}
