/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/ring.h - the user-space ring in shared memory: what the writer (runtime),
 * the reader (gkhi) and a post-mortem share. docs/format-ring.md is its page.
 *
 * File <channel>.ring:
 *
 *   page 0                      struct gkhi_ring_file
 *   then n_streams times, each @stride bytes, page aligned:
 *      struct gkhi_ring_cpu     one page; [cpu] for cpu < n_cpus, the last one
 *                               is the fallback stream (cpu_id GKHI_CPU_NONE)
 *      hits[n_counters]         u64 per event id, @hits_offset from the cpu page
 *      lost[n_counters]         u64 per event id, @lost_offset
 *      data[n_subbufs][subbuf]  packets in place, @data_offset
 *
 * The commit word. One aligned 8-byte store publishes an event:
 *
 *   63                                    24 23            0
 *   +---------------------------------------+--------------+
 *   | position, in 8-byte words (40 bits)   | event count  |
 *   +---------------------------------------+--------------+
 *
 * position counts all words ever taken (modulo 2^40), count the events ever
 * committed (modulo 2^24). Publishing an event of n words adds n << 24 | 1.
 * So a writer killed at any instant leaves nothing torn, and a reader knows from
 * two packet headers exactly how many events lie between them.
 */
#ifndef GKHI_RING_H
#define GKHI_RING_H

#include <gkhi/packet.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GKHI_RING_MAGIC		0x474e4952494b4700ull	/* "\0GKIRING" */
#define GKHI_RING_VERSION	1

#define GKHI_COMMIT_SHIFT	24
#define GKHI_COMMIT_COUNT_MASK	0xffffffull

#define GKHI_RING_PAGE		4096
#define GKHI_SUBBUF_MIN		4096u
#define GKHI_SUBBUF_MAX		(1u << 30)
#define GKHI_N_SUBBUFS_MIN	2u
#define GKHI_N_SUBBUFS_MAX	(1u << 20)

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
	uint32_t n_counters;		/* ids from n_counters on share the last */
	uint64_t stride;
	uint64_t hits_offset;
	uint64_t lost_offset;
	uint64_t data_offset;
	uint32_t readers;		/* consumers attached: wake on @ready */
	uint32_t ready;			/* futex: packets finished, all streams */
	char channel[32];
};

/*
 * struct gkhi_ring_cpu - one stream. Line 0 is the writer's hot line: the fast
 * stub knows its offsets (GKHI_RC_*).
 *
 * @commit:    the commit word
 * @deadline:  tick at which the open packet must be closed (P3); 0 = no packet
 *             is open, so that the first event takes the slow path
 * @data:      of this mapping, set by the writer: address of data[0]. Readers
 *             use gkhi_ring_file.data_offset.
 * @data_mask: in words: size of data / 8 - 1
 * @subbuf_words: subbuf_size / 8
 * @hits:      of this mapping: address of hits[0]
 */
struct gkhi_ring_cpu {
	uint64_t commit;
	uint64_t deadline;
	uint64_t data;
	uint64_t data_mask;
	uint64_t subbuf_words;
	uint64_t hits;
	uint64_t lost;			/* of this mapping: address of lost[0] */
	uint64_t reserved0;
	/* line 1: the slow path's */
	uint64_t packets;		/* packets opened, = next packet_seq_num */
	uint64_t discarded;		/* cumulative, all reasons */
	uint64_t open_position;		/* in words, of the open packet's header */
	uint64_t last_time;
	uint32_t lock;			/* fallback stream only */
	uint32_t reserved1;
	uint64_t count;			/* events committed when the packet opened */
	uint64_t reserved2[2];
	/* line 2: the reader's, in discard mode */
	uint64_t tail;			/* words consumed (position, modulo 2^40) */
	uint64_t reserved3[7];
	/* line 3 */
	uint64_t lost_by_reason[GKHI_N_LOST_REASONS];
};

#define GKHI_RC_COMMIT		0
#define GKHI_RC_DEADLINE	8
#define GKHI_RC_DATA		16
#define GKHI_RC_DATA_MASK	24
#define GKHI_RC_SUBBUF		32
#define GKHI_RC_HITS		40

#ifdef __cplusplus
}
#endif
#endif
