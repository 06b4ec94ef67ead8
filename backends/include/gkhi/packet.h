/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/packet.h - the bytes of a packet: the one on-buffer and on-disk format,
 * shared by every backend (kernel and user space) and by the reader.
 * docs/format-packet.md is the page of it.
 *
 * A packet is a CTF 1.8 packet, little endian, 8-byte aligned throughout:
 *
 *   +--------------------+ 0
 *   | struct gkhi_packet |  header and context
 *   +--------------------+ GKHI_PACKET_HEADER bytes
 *   | record             |  event header word(s), fixed part, tail; multiple of 8
 *   | ...                |
 *   +--------------------+ content_size / 8
 *   | unused             |
 *   +--------------------+ packet_size / 8
 *
 * Writer's promises (each has a test):
 *  P1 timestamp_begin <= every record's time <= timestamp_end;
 *  P2 record times never go back inside a stream;
 *  P3 a packet spans less than 2^47 ticks, so the 48-bit times are unambiguous;
 *  P4 packet_seq_num counts the packets opened in the stream, from 0;
 *  P5 events_discarded counts, cumulatively for the stream, the records that
 *     were fired and not written (CTF's meaning); count_begin counts those that
 *     were written before this packet, so that packets overwritten before anyone
 *     read them are an exact number of events too.
 */
#ifndef GKHI_PACKET_H
#define GKHI_PACKET_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GKHI_CTF_MAGIC	0xc1fc1fc1u

/* Stream classes: the event header. */
enum gkhi_stream_class {
	GKHI_STREAM_COMPACT = 0,	/* u64: time << 16 | id */
	GKHI_STREAM_WIDE = 1,		/* u64 time, u32 id, u32 tid */
	GKHI_STREAM_NOCLOCK = 2,	/* u64: id, the upper 48 bits 0 */
	GKHI_N_STREAM_CLASSES = 3,
};

#define GKHI_ID_BITS	16
#define GKHI_TIME_BITS	48
#define GKHI_ID_MAX	0xfffeu		/* 0 and 0xffff are never given out */

/* Close a packet before it gets this old, in ticks (P3). */
#define GKHI_PACKET_MAX_TICKS	(1ull << 47)

struct gkhi_packet {
	/* packet.header */
	uint32_t magic;
	uint8_t uuid[16];		/* of the producer (process, kernel) */
	uint32_t stream_id;		/* enum gkhi_stream_class */
	/* packet.context */
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size;		/* bits, header included */
	uint64_t packet_size;		/* bits */
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint64_t count_begin;
	uint32_t cpu_id;
	uint32_t pid;			/* 0: the kernel */
	uint32_t generation;		/* of the metadata this packet needs */
	uint32_t reserved;
};

#define GKHI_PACKET_HEADER	96

/* The stream that threads without restartable sequences write to. */
#define GKHI_CPU_NONE	0xffffffffu

#ifdef __cplusplus
}
#endif
#endif
