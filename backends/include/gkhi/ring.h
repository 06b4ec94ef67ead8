/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/ring.h - the user-space ring in shared memory: what the writer (runtime),
 * the reader (gkhi) and a post-mortem share. docs/format-ring.md is its page.
 *
 * File <channel>.ring:
 *
 *   page 0                      struct gkhi_ring_file
 *   then n_streams times, each @stride bytes, page aligned; from its start:
 *      @lost_offset  lost[GKHI_RING_COUNTERS]   u64 per event id
 *      @hits_offset  hits[GKHI_RING_COUNTERS]   u64 per event id
 *      @cpu_offset   struct gkhi_ring_cpu       one page
 *      @data_offset  data[n_subbufs][subbuf]    packets in place
 *   Stream i < n_cpus is cpu i's; the last one is the fallback stream (cpu_id
 *   GKHI_CPU_NONE).
 *
 * The commit word. One aligned 8-byte store publishes an event:
 *
 *   63      56 55              32 31                             0
 *   +---------+------------------+--------------------------------+
 *   | packet  | events in packet | byte offset of the last word   |
 *   +---------+------------------+--------------------------------+
 *
 * packet: the low 8 bits of the open packet's packet_seq_num. The offset is
 * that of the last word taken, from data[0]; so the sub-buffer it lies in holds
 * the open packet, whose content ends 8 bytes further on. There always is an
 * open packet, also when nothing was ever written.
 *
 * So a writer killed at any instant leaves nothing torn, and a reader knows from
 * two packet headers exactly how many events lie between them. All else that a
 * writer needs to go on stands in the header of the open packet.
 *
 * Packets follow one another through the sub-buffers in turn. Of n_subbufs, a
 * reader of a live ring may trust the open one (up to the commit word) and the
 * n_subbufs - 2 before it: the next one is where the writer is about to put a
 * header. What was copied is good if the packet was still no older than that
 * afterwards. Closing fields (timestamp_end, content_size, events_discarded) of
 * the open packet mean nothing yet.
 */
#ifndef GKHI_RING_H
#define GKHI_RING_H

#include <gkhi/packet.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GKHI_RING_MAGIC		0x474e4952494b4700ull	/* "\0GKIRING" */
#define GKHI_RING_VERSION	1

#define GKHI_RING_PAGE		4096
#define GKHI_SUBBUF_MIN		4096u
#define GKHI_SUBBUF_MAX		(1u << 26)	/* so that its events fit 24 bits */
#define GKHI_N_SUBBUFS_MIN	4u
#define GKHI_RING_DATA_MAX	(1ull << 32)	/* of one stream: 32-bit offsets */

/* Ids from the last one on share it. A constant, so that stubs need not look it up. */
#define GKHI_RING_COUNTERS	4096u

/* The commit word. */
#define GKHI_COMMIT_EVENT	(1ull << 32)
#define GKHI_COMMIT_COUNT_MASK	0xffffffull

static inline uint32_t gkhi_commit_offset(uint64_t commit)
{
	return (uint32_t)commit;
}

static inline uint32_t gkhi_commit_count(uint64_t commit)
{
	return (uint32_t)(commit >> 32 & GKHI_COMMIT_COUNT_MASK);
}

static inline uint32_t gkhi_commit_packet(uint64_t commit)
{
	return (uint32_t)(commit >> 56);
}

/* What an event of @words 8-byte words, its header included, adds to it. */
static inline uint64_t gkhi_commit_step(uint32_t words)
{
	return GKHI_COMMIT_EVENT + 8ull * words;
}

enum gkhi_ring_mode {
	GKHI_RING_OVERWRITE = 0,	/* flight recorder: the oldest packet goes */
	GKHI_RING_DISCARD = 1,		/* full: the event is counted as lost */
};

/* Why an event was not written. */
enum gkhi_lost_reason {
	GKHI_LOST_FULL = 0,		/* discard mode, no free sub-buffer */
	GKHI_LOST_CONTENTION = 1,	/* fallback stream was busy */
	GKHI_LOST_TOO_BIG = 2,		/* larger than a sub-buffer */
	GKHI_LOST_RECURSION = 3,	/* tracing that triggers tracing */
	GKHI_LOST_NO_ROUTE = 4,		/* a late thread after the channel went */
	GKHI_LOST_RATE = 5,		/* printk's rate limit */
	GKHI_LOST_FAULT = 6,		/* an argument could not be read */
	GKHI_LOST_IO = 7,		/* the sink failed: full disk, closed log */
	GKHI_N_LOST_REASONS = 8,
};

struct gkhi_ring_file {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;		/* bytes of this struct, for growth */
	uint8_t uuid[16];
	uint32_t pid;
	uint32_t mode;			/* enum gkhi_ring_mode */
	uint32_t stream_class;		/* enum gkhi_stream_class */
	uint32_t n_cpus;
	uint32_t n_streams;		/* n_cpus + 1 */
	uint32_t subbuf_size;		/* bytes, a power of two */
	uint32_t n_subbufs;		/* a power of two */
	uint32_t n_counters;		/* GKHI_RING_COUNTERS */
	uint64_t stride;
	uint64_t lost_offset;
	uint64_t hits_offset;
	uint64_t cpu_offset;
	uint64_t data_offset;
	uint32_t readers;		/* consumers attached: wake on @ready */
	uint32_t ready;			/* futex: packets finished, all streams */
	char channel[32];
};

/*
 * struct gkhi_ring_cpu - one stream; its counters lie in front of it and its
 * data behind, at distances that are constants (GKHI_RC_*), so that any process
 * may map the file anywhere. Line 0 is what the fast stubs know.
 *
 * @commit:      the commit word
 * @deadline:    the open packet must be closed when the upper half of the clock
 *               gets here (P3). It may lag behind, never run ahead of, the
 *               packet: 0 sends the next event down the slow path.
 * @subbuf_size: bytes
 */
struct gkhi_ring_cpu {
	uint64_t commit;
	uint32_t deadline;
	uint32_t subbuf_size;
	uint64_t reserved0[6];
	/* line 1: the slow path's */
	uint64_t discarded;		/* cumulative, all reasons */
	uint64_t last_time;		/* never go back (P2): of slow-path records */
	uint32_t lock;			/* fallback stream only: tid of the owner */
	uint32_t reserved1;
	uint64_t reserved2[5];
	/* line 2: the reader's */
	uint64_t tail;			/* discard mode: packets consumed, = the first
					 * packet_seq_num that is not */
	uint64_t first;			/* packets before this one were forgotten (reset) */
	uint64_t reserved3[6];
	/* line 3 */
	uint64_t lost_by_reason[GKHI_N_LOST_REASONS];
};

#define GKHI_RC_COMMIT		0
#define GKHI_RC_DEADLINE	8
#define GKHI_RC_SUBBUF		12
#define GKHI_RC_DATA		4096
#define GKHI_RC_HITS		(-32768)
#define GKHI_RC_LOST		(-65536)

#ifdef __cplusplus
}
#endif
#endif
