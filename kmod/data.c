// SPDX-License-Identifier: GPL-2.0-only
/*
 * data.c - the files of a channel come and go. data.h has the contexts,
 * data_stream.h the locks.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "data_stream.h"

static void gkhi_data_free(struct kref *ref)
{
	struct gkhi_data *data = container_of(ref, struct gkhi_data, ref);
	struct module *owner = data->ops->owner;
	u32 cpu;

	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&data->stream[cpu].look);
	data->ops->free(data->transport);
	module_put(owner);
	kvfree(data);
}

void gkhi_data_put(struct gkhi_data *data)
{
	kref_put(&data->ref, gkhi_data_free);
}

static void gkhi_data_look(struct work_struct *work)
{
	struct gkhi_data_stream *s = container_of(to_delayed_work(work), struct gkhi_data_stream, look);

	wake_up_all(&s->lookers);
}

static void gkhi_data_start(struct gkhi_data *data, u32 cpu)
{
	struct gkhi_data_stream *s = &data->stream[cpu];

	mutex_init(&s->lock);
	s->data = data;
	s->cpu = cpu;
	init_waitqueue_head(&s->lookers);
	INIT_DELAYED_WORK(&s->look, gkhi_data_look);
}

/* Files that are open go on to the end of what there is; the last one frees the rest. */
static void gkhi_data_retire(struct gkhi_data *data)
{
	u32 cpu;

	smp_store_release(&data->gone, true);
	for_each_possible_cpu(cpu) {
		gkhi_device_remove(data->stream[cpu].device);
		wake_up_all(gkhi_data_readers(&data->stream[cpu]));
	}
	gkhi_data_put(data);
}

/**
 * gkhi_data_open - make the files of a channel
 * @ops: of the transport
 * @transport: handed to @ops; given back by @ops->free
 * @config: the channel's
 * @managed: one consumer, who makes room
 *
 * Context: task, control lock held.
 * Return: the files; ERR_PTR: there are none, and @transport was given back, since
 * somebody may have opened those that were there already.
 */
struct gkhi_data *gkhi_data_open(const struct gkhi_data_ops *ops, void *transport,
				 const struct gkhi_channel_config *config, bool managed)
{
	char name[sizeof(config->name) + 12];
	struct gkhi_data *data;
	int err;
	u32 cpu;

	data = kvzalloc(struct_size(data, stream, nr_cpu_ids), GFP_KERNEL);
	if (!data) {
		ops->free(transport);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&data->ref);
	data->ops = ops;
	data->transport = transport;
	data->config = *config;
	data->managed = managed;
	for_each_possible_cpu(cpu)
		gkhi_data_start(data, cpu);
	__module_get(ops->owner);
	for_each_possible_cpu(cpu) {
		struct gkhi_data_stream *s = &data->stream[cpu];

		snprintf(name, sizeof(name), "%s.%u", config->name, cpu);
		s->device = gkhi_device_add(name, 0400, &gkhi_data_fops, s);
		if (IS_ERR(s->device)) {
			err = PTR_ERR(s->device);
			goto out;
		}
	}
	return data;

out:
	gkhi_data_retire(data);
	return ERR_PTR(err);
}
GKHI_EXPORT(gkhi_data_open);

/**
 * gkhi_data_close - take the files away, behind the last writer
 * @data: from gkhi_data_open()
 *
 * Who has one open reads on to the end.
 * Context: task, control lock held.
 */
void gkhi_data_close(struct gkhi_data *data)
{
	gkhi_data_flush(data);
	gkhi_data_retire(data);
}
GKHI_EXPORT(gkhi_data_close);

/**
 * gkhi_data_flush - end all open packets
 * @data: from gkhi_data_open()
 *
 * Context: task, may sleep.
 */
void gkhi_data_flush(struct gkhi_data *data)
{
	u32 cpu;

	for_each_possible_cpu(cpu) {
		struct gkhi_data_stream *s = &data->stream[cpu];

		mutex_lock(&s->lock);
		data->ops->flush(data->transport, cpu);
		mutex_unlock(&s->lock);
	}
}
GKHI_EXPORT(gkhi_data_flush);

/**
 * gkhi_data_reset - forget the content
 * @data: from gkhi_data_open()
 *
 * Context: task, may sleep.
 */
void gkhi_data_reset(struct gkhi_data *data)
{
	u32 cpu;

	for_each_possible_cpu(cpu) {
		struct gkhi_data_stream *s = &data->stream[cpu];

		mutex_lock(&s->lock);
		data->ops->flush(data->transport, cpu);
		data->ops->reset(data->transport, cpu);
		s->resets++;
		mutex_unlock(&s->lock);
	}
}
GKHI_EXPORT(gkhi_data_reset);

/**
 * gkhi_data_stats - what the channel's streams have counted
 * @data: from gkhi_data_open()
 * @st: out: the sum
 *
 * Context: task.
 */
void gkhi_data_stats(struct gkhi_data *data, struct gkhi_channel_stats *st)
{
	u32 cpu, i;

	memset(st, 0, sizeof(*st));
	for_each_possible_cpu(cpu) {
		struct gkhi_data_info info = {};

		data->ops->info(data->transport, cpu, &info);
		st->events += info.events;
		for (i = 0; i < GKHI_N_LOST_REASONS; i++)
			st->lost[i] += info.lost[i];
	}
}
GKHI_EXPORT(gkhi_data_stats);
