// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * reserve.c - reserve and commit for clients that bring no events.
 *
 *   both calls    any context, signal handlers    may run against everything
 *
 * A restartable sequence cannot stay open while a client fills its record, so a
 * reservation is a slot beside the ring, and commit copies it in one sequence.
 * What is reserved and never committed therefore costs a slot, not the stream.
 */
#include "ring.h"

static struct gkhi_ring_slot *take_slot(struct gkhi_ring *ring)
{
	uint64_t taken = PORT_READ_ONCE(ring->slots_taken);

	while (~taken) {
		unsigned int i = (unsigned int)__builtin_ctzll(~taken);

		if (__atomic_compare_exchange_n(&ring->slots_taken, &taken, taken | 1ull << i, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &ring->slots[i];
	}
	return NULL;
}

void *gkhi_ring_reserve(struct gkhi_channel *ch, uint32_t id, uint32_t words)
{
	struct gkhi_ring *ring = gkhi_ring_of(ch);
	struct gkhi_ring_slot *slot;

	if (words > GKHI_RING_SLOT_WORDS) {
		gkhi_ring_lost(ring, id, GKHI_LOST_TOO_BIG);
		return NULL;
	}
	slot = take_slot(ring);
	if (!slot) {
		gkhi_ring_lost(ring, id, GKHI_LOST_CONTENTION);
		return NULL;
	}
	slot->id = id;
	slot->words = words;
	return slot->payload;
}

void gkhi_ring_commit(struct gkhi_channel *ch, void *reservation)
{
	struct gkhi_ring *ring = gkhi_ring_of(ch);
	size_t offset = (size_t)((char *)reservation - (char *)ring->slots);
	size_t i = offset / sizeof(*ring->slots);
	const struct gkhi_ring_slot *slot = &ring->slots[i];

	(void)gkhi_ring_put(ring, slot->id, slot->payload, slot->words);
	__atomic_fetch_and(&ring->slots_taken, ~(1ull << i), __ATOMIC_RELEASE);
}
