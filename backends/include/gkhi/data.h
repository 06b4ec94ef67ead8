/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/data.h - /dev/gkhi/CHANNEL.CPU: the packets of one stream of a kernel
 * channel.
 *
 *   read()   the packets one behind the other, the unused end of each cut off
 *            (packet_size is content_size): what a file of a trace directory
 *            holds, so that cat makes one. Waits for a packet to be finished,
 *            unless O_NONBLOCK; 0 when the channel is gone or a snapshot is over
 *   poll()   POLLIN: read() would not wait; POLLHUP: the channel is gone
 *   mmap()   read-only, managed streams: the sub-buffers, for GKHI_DATA_NEXT
 *
 * A stream is *managed* when its channel overwrites nothing (ring in mode discard,
 * relay in mode managed): then it has one consumer, so that a second open() is
 * refused with EBUSY, and what read() has taken out, or GKHI_DATA_DONE has
 * acknowledged, makes room for new packets. Of any other stream each open file is
 * a reader of its own, which begins with the oldest packet and goes past those
 * that were overwritten (gkhi_packet.count_begin says how many events they held).
 */
#ifndef GKHI_DATA_H
#define GKHI_DATA_H

#include <gkhi/packet.h>
#include <gkhi/ring.h>

#ifdef __KERNEL__
#include <linux/ioctl.h>
#else
#include <sys/ioctl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GKHI_DATA_VERSION	1

/* gkhi_data_info.flags */
#define GKHI_DATA_MANAGED	0x01
#define GKHI_DATA_GONE		0x02	/* the channel is closed: what is left can be read */

struct gkhi_data_info {
	uint32_t version;
	uint32_t flags;			/* GKHI_DATA_* */
	uint32_t cpu;
	uint32_t mode;			/* as in the channel's configuration */
	uint32_t stream_class;		/* enum gkhi_stream_class */
	uint32_t subbuf_size;
	uint32_t n_subbufs;
	uint32_t reserved;
	uint64_t events;		/* written so far */
	uint64_t lost[GKHI_N_LOST_REASONS];
	uint8_t uuid[16];		/* of the producer */
	char channel[32];
};

/* A finished packet, in place: @offset in the mapping, @size bytes; stays until GKHI_DATA_DONE. */
struct gkhi_data_place {
	uint64_t offset;
	uint64_t size;
};

#define GKHI_DATA_INFO		_IOR('g', 0xe0, struct gkhi_data_info)
/* End the open packet, so that everything written so far can be read. */
#define GKHI_DATA_FLUSH		_IO('g', 0xe1)
/* The same, and read() ends, with 0, behind that packet, though writers go on. */
#define GKHI_DATA_SNAPSHOT	_IO('g', 0xe2)
/* Managed: the oldest packet (EAGAIN: none is finished), and: done with it. */
#define GKHI_DATA_NEXT		_IOR('g', 0xe3, struct gkhi_data_place)
#define GKHI_DATA_DONE		_IO('g', 0xe4)

#ifdef __cplusplus
}
#endif
#endif
