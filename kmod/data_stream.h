/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * data_stream.h - what data.c and data_file.c share.
 *
 * Locks, outermost first: a file's, its stream's. The stream's orders all that is
 * done to the transport; nothing is taken inside but what a transport's flush needs
 * (cpu hotplug), and no user memory is touched.
 */
#ifndef GKHI_KMOD_DATA_STREAM_H
#define GKHI_KMOD_DATA_STREAM_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "data.h"
#include "gkhi_kernel.h"

/*
 * struct gkhi_data_stream - one file
 * @resets: how often the content was forgotten
 * @consumer: managed: somebody has it open
 * @lookers, @look: who waits where no writer wakes anybody
 */
struct gkhi_data_stream {
	struct mutex lock;
	struct gkhi_data *data;
	struct gkhi_device *device;
	u32 cpu;
	u32 resets;
	bool consumer;
	wait_queue_head_t lookers;
	struct delayed_work look;
};

struct gkhi_data {
	struct kref ref;
	const struct gkhi_data_ops *ops;
	void *transport;
	struct gkhi_channel_config config;
	bool managed;
	bool gone;
	struct gkhi_data_stream stream[];	/* nr_cpu_ids */
};

static inline wait_queue_head_t *gkhi_data_readers(struct gkhi_data_stream *s)
{
	const struct gkhi_data *data = s->data;

	return data->ops->readers ? data->ops->readers(data->transport, s->cpu) : &s->lookers;
}

extern const struct file_operations gkhi_data_fops;

void gkhi_data_put(struct gkhi_data *data);

#endif
