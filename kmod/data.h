/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * data.h - the files /dev/gkhi/CHANNEL.CPU over any transport; gkhi/data.h says
 * what they do.
 *
 *   call                              context
 *   gkhi_data_open, _close, _reset    task, may sleep; control lock held
 *   a transport's functions           task, may sleep, stream's lock held;
 *                                     readable(): any
 *
 * Files may stay open when the channel is closed: the transport is given back by
 * the last of them, and its module is held until then.
 */
#ifndef GKHI_KMOD_DATA_H
#define GKHI_KMOD_DATA_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <gkhi/channel.h>
#include <gkhi/data.h>

/* A reader's place: the transport's own, all zeros at first. @end: of a snapshot. */
struct gkhi_data_cursor {
	u64 next;
	u64 sequence;
	u64 end;
	bool ends;
};

/**
 * struct gkhi_data_ops - what the files ask of a transport
 * @owner: the transport's module
 * @begin: a reader begins, or begins again after the content was forgotten
 * @readable: would @read find a packet?
 * @read: copy the next packet out, and make room where nothing is overwritten; 1 or 0
 * @peek: managed: the next packet's offset in the mapping; 1 or 0
 * @done: managed: what @peek found may be written over
 * @page: managed: of the mapping; NULL: none there
 * @flush: end the open packet
 * @head: where a packet that is opened after @flush begins: a cursor's @next
 * @reset: forget the content
 * @info: fills events and lost
 * @readers: who waits; NULL: nobody is ever woken, look again
 * @free: the transport, after all
 */
struct gkhi_data_ops {
	struct module *owner;
	void (*begin)(void *transport, u32 cpu, struct gkhi_data_cursor *cursor);
	bool (*readable)(void *transport, u32 cpu, const struct gkhi_data_cursor *cursor);
	int (*read)(void *transport, u32 cpu, struct gkhi_data_cursor *cursor, struct gkhi_packet *packet);
	int (*peek)(void *transport, u32 cpu, const struct gkhi_data_cursor *cursor, u64 *offset);
	void (*done)(void *transport, u32 cpu, struct gkhi_data_cursor *cursor);
	struct page *(*page)(void *transport, u32 cpu, unsigned long index);
	void (*flush)(void *transport, u32 cpu);
	u64 (*head)(void *transport, u32 cpu);
	void (*reset)(void *transport, u32 cpu);
	void (*info)(void *transport, u32 cpu, struct gkhi_data_info *info);
	wait_queue_head_t *(*readers)(void *transport, u32 cpu);
	void (*free)(void *transport);
};

struct gkhi_data;

/* The files of @config's channel. @managed: one consumer. Or an ERR_PTR, and @transport was given back. */
struct gkhi_data *gkhi_data_open(const struct gkhi_data_ops *ops, void *transport,
				 const struct gkhi_channel_config *config, bool managed);

/* Nobody writes any more. The transport is given back now, or when the last file is closed. */
void gkhi_data_close(struct gkhi_data *data);

/* End all open packets; forget everything; sum up. */
void gkhi_data_flush(struct gkhi_data *data);
void gkhi_data_reset(struct gkhi_data *data);
void gkhi_data_stats(struct gkhi_data *data, struct gkhi_channel_stats *st);

#endif
