/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ring.h - the ring's inside; not installed.
 */
#ifndef GKHI_RING_PRIVATE_H
#define GKHI_RING_PRIVATE_H

#include <gkhi/channel.h>

#include "port.h"

/* Reservations (reserve.c): so many at once, so many payload words each. */
#define GKHI_RING_SLOTS		64u
#define GKHI_RING_SLOT_WORDS	128u

struct gkhi_ring_slot {
	uint32_t id;
	uint32_t words;
	uint64_t payload[GKHI_RING_SLOT_WORDS];
};

/*
 * struct gkhi_ring - one open ring; never changes while it is open but for
 * @slots_taken.
 * @shift: log2 of the sub-buffer's bytes
 * @slots_taken: a bit each
 */
struct gkhi_ring {
	struct gkhi_ring_file *file;
	size_t size;
	uint32_t n_cpus;
	uint32_t stream_class;
	uint32_t mode;
	uint32_t subbuf_size;
	uint32_t n_subbufs;
	uint32_t shift;
	uint64_t slots_taken;
	struct gkhi_ring_slot *slots;
	struct gkhi_ring_cpu *cpu[];		/* n_cpus + 1 */
};

static inline struct gkhi_ring *gkhi_ring_of(const struct gkhi_channel *ch)
{
	return ch->priv[0];
}

static inline char *gkhi_ring_data(struct gkhi_ring_cpu *rc)
{
	return (char *)rc + GKHI_RC_DATA;
}

/* The open packet, of the commit word @commit. */
static inline struct gkhi_packet *gkhi_ring_packet(const struct gkhi_ring *ring, struct gkhi_ring_cpu *rc,
						   uint64_t commit)
{
	uint32_t index = gkhi_commit_offset(commit) >> ring->shift;

	return (struct gkhi_packet *)(gkhi_ring_data(rc) + ((size_t)index << ring->shift));
}

static inline uint32_t gkhi_stream_header_words(uint32_t stream_class)
{
	return stream_class == GKHI_STREAM_WIDE ? 2 : 1;
}

/* The header of packet @seq of stream @rc, as good as new. */
void gkhi_ring_fill_packet(const struct gkhi_ring *ring, const struct gkhi_ring_cpu *rc, uint32_t cpu,
			   struct gkhi_packet *packet);

/* Event side (write.c): one record of @words payload words; 0, or -errno with the loss counted. */
int gkhi_ring_put(const struct gkhi_ring *ring, uint32_t id, const uint64_t *payload, uint32_t words);
/* Count an event that was not written, on the stream where this thread would have written. */
void gkhi_ring_lost(const struct gkhi_ring *ring, uint32_t id, enum gkhi_lost_reason reason);

/* Event side: the v-table's calls. */
int gkhi_ring_write(struct gkhi_channel *ch, const struct gkhi_payload *payload);
void *gkhi_ring_reserve(struct gkhi_channel *ch, uint32_t id, uint32_t words);
void gkhi_ring_commit(struct gkhi_channel *ch, void *reservation);

#endif
