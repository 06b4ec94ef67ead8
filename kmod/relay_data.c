// SPDX-License-Identifier: GPL-2.0-only
/*
 * relay_data.c - what /dev/gkhi/CHANNEL.CPU asks of a relay channel. data.h has
 * the contexts.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "backend_relay.h"

void relay_channel_free(void *transport)
{
	struct relay_channel *rc = transport;

	if (rc->managed.cpu)
		krelay_free(&rc->managed);
	if (rc->adhoc.cpu)
		kadhoc_free(&rc->adhoc);
	free_percpu(rc->open);
	kfree(rc);
}

/* ---------------------------------------------------------------------- managed */

static struct krelay *managed_of(void *transport)
{
	return &((struct relay_channel *)transport)->managed;
}

static struct krelay_cpu *managed_stream(void *transport, u32 cpu)
{
	return per_cpu_ptr(managed_of(transport)->cpu, cpu);
}

/* The one consumer's place is the transport's: what was not acknowledged is read again. */
static void managed_begin(void *transport, u32 cpu, struct gkhi_data_cursor *cursor)
{
	cursor->next = READ_ONCE(managed_stream(transport, cpu)->consumed);
}

static bool managed_readable(void *transport, u32 cpu, const struct gkhi_data_cursor *cursor)
{
	return krelay_readable(managed_of(transport), cpu);
}

static int managed_read(void *transport, u32 cpu, struct gkhi_data_cursor *cursor, struct gkhi_packet *packet)
{
	if (!krelay_read_packet(managed_of(transport), cpu, packet))
		return 0;
	cursor->next++;
	return 1;
}

static int managed_peek(void *transport, u32 cpu, const struct gkhi_data_cursor *cursor, u64 *offset)
{
	const struct gkhi_packet *packet = krelay_peek(managed_of(transport), cpu);

	if (!packet)
		return 0;
	*offset = (const char *)packet - (const char *)managed_stream(transport, cpu)->buf->start;
	return 1;
}

static void managed_done(void *transport, u32 cpu, struct gkhi_data_cursor *cursor)
{
	krelay_consume(managed_of(transport), cpu);
	cursor->next = READ_ONCE(managed_stream(transport, cpu)->consumed);
}

static struct page *managed_page(void *transport, u32 cpu, unsigned long index)
{
	return krelay_page(managed_of(transport), cpu, index);
}

static void managed_flush(void *transport, u32 cpu)
{
	krelay_flush_cpu(managed_of(transport), cpu);
}

static u64 managed_head(void *transport, u32 cpu)
{
	return READ_ONCE(managed_stream(transport, cpu)->closed);
}

static void managed_forget(void *transport, u32 cpu)
{
	u64 head = managed_head(transport, cpu);

	while (READ_ONCE(managed_stream(transport, cpu)->consumed) != head)
		krelay_consume(managed_of(transport), cpu);
}

static void managed_info(void *transport, u32 cpu, struct gkhi_data_info *info)
{
	const struct krelay_cpu *c = managed_stream(transport, cpu);
	int i;

	info->events = READ_ONCE(c->count);
	for (i = 0; i < GKHI_N_LOST_REASONS; i++)
		info->lost[i] = READ_ONCE(c->lost[i]);
}

static wait_queue_head_t *managed_readers(void *transport, u32 cpu)
{
	return &managed_stream(transport, cpu)->readers;
}

const struct gkhi_data_ops relay_managed_ops = {
	.owner = THIS_MODULE,
	.begin = managed_begin,
	.readable = managed_readable,
	.read = managed_read,
	.peek = managed_peek,
	.done = managed_done,
	.page = managed_page,
	.flush = managed_flush,
	.head = managed_head,
	.reset = managed_forget,
	.info = managed_info,
	.readers = managed_readers,
	.free = relay_channel_free,
};

/* ----------------------------------------------------------------------- ad-hoc */

static struct kadhoc_cpu *adhoc_stream(void *transport, u32 cpu)
{
	return per_cpu_ptr(((struct relay_channel *)transport)->adhoc.cpu, cpu);
}

static void adhoc_begin(void *transport, u32 cpu, struct gkhi_data_cursor *cursor)
{
	cursor->next = READ_ONCE(adhoc_stream(transport, cpu)->first);
}

static bool adhoc_readable(void *transport, u32 cpu, const struct gkhi_data_cursor *cursor)
{
	const struct kadhoc_cursor place = { cursor->next, cursor->sequence };

	return kadhoc_readable(adhoc_stream(transport, cpu), &place);
}

static int adhoc_read(void *transport, u32 cpu, struct gkhi_data_cursor *cursor, struct gkhi_packet *packet)
{
	struct kadhoc_cursor place = { cursor->next, cursor->sequence };
	int got = kadhoc_read_packet(adhoc_stream(transport, cpu), &place, packet);

	cursor->next = place.next;
	cursor->sequence = place.sequence;
	return got;
}

/* Packets are made when they are read: nothing is open. */
static void adhoc_flush(void *transport, u32 cpu)
{
}

static u64 adhoc_head(void *transport, u32 cpu)
{
	return READ_ONCE(adhoc_stream(transport, cpu)->next);
}

static void adhoc_forget(void *transport, u32 cpu)
{
	WRITE_ONCE(adhoc_stream(transport, cpu)->first, adhoc_head(transport, cpu));
}

static void adhoc_info(void *transport, u32 cpu, struct gkhi_data_info *info)
{
	const struct kadhoc_cpu *c = adhoc_stream(transport, cpu);
	int i;

	info->events = READ_ONCE(c->next);
	for (i = 0; i < GKHI_N_LOST_REASONS; i++)
		info->lost[i] = READ_ONCE(c->lost[i]);
}

const struct gkhi_data_ops relay_adhoc_ops = {
	.owner = THIS_MODULE,
	.begin = adhoc_begin,
	.readable = adhoc_readable,
	.read = adhoc_read,
	.flush = adhoc_flush,
	.head = adhoc_head,
	.reset = adhoc_forget,
	.info = adhoc_info,
	.free = relay_channel_free,
};
