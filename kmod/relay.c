// SPDX-License-Identifier: GPL-2.0-only
/*
 * relay.c - packets in relay.c's sub-buffers, and their consumer. relay.h has the
 * rules (L1..L5).
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "relay.h"

/**
 * krelay_count_lost - an event was not written
 * @c: this cpu's stream
 * @reason: why
 *
 * A nested context may do the same between load and store: so by one instruction.
 * Context: any, preemption off.
 */
void krelay_count_lost(struct krelay_cpu *c, enum gkhi_lost_reason reason)
{
	asm volatile("incq %0" : "+m"(c->lost[reason]) : : "memory");
}

static u64 krelay_lost(struct krelay_cpu *c)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < GKHI_N_LOST_REASONS; i++)
		sum += READ_ONCE(c->lost[i]);
	return sum;
}

static void krelay_close_packet(struct krelay_cpu *c, size_t padding)
{
	struct gkhi_packet *p = c->packet;

	p->timestamp_end = c->now;
	p->content_size = (u64)(c->relay->subbuf_size - padding) * 8;
	p->events_discarded = krelay_lost(c);
	c->open = false;
	smp_store_release(&c->closed, c->closed + 1);
	/* the count is out before we look who waits; whoever comes later finds the packet */
	smp_mb();
	if (waitqueue_active(&c->readers))
		irq_work_queue(&c->wakeup);
}

static void krelay_wake_up(struct irq_work *work)
{
	wake_up_all(&container_of(work, struct krelay_cpu, wakeup)->readers);
}

static void krelay_open_packet(struct krelay_cpu *c, struct rchan_buf *buf, void *subbuf)
{
	struct krelay *relay = c->relay;
	struct gkhi_packet *p = subbuf;

	subbuf_start_reserve(buf, GKHI_PACKET_HEADER);
	p->magic = GKHI_CTF_MAGIC;
	memcpy(p->uuid, relay->uuid, sizeof(p->uuid));
	p->stream_id = relay->stream_class;
	p->timestamp_begin = c->now;
	p->packet_size = (u64)relay->subbuf_size * 8;
	p->packet_seq_num = c->closed;
	p->count_begin = c->count;
	p->cpu_id = c->cpu;
	p->pid = 0;
	p->generation = 0;
	p->reserved = 0;
	c->packet = p;
	c->open = true;
	c->deadline = c->now + GKHI_PACKET_MAX_TICKS;
}

/* L1. 0: no sub-buffer is free, the event is not written. */
static int krelay_subbuf_start(struct rchan_buf *buf, void *subbuf, void *prev, size_t prev_padding)
{
	struct krelay *relay = buf->chan->private_data;
	struct krelay_cpu *c = per_cpu_ptr(relay->cpu, buf->cpu);

	if (!prev)	/* relay_open(): whoever comes first opens it */
		c->now = relay->clock();
	if (prev && c->open)
		krelay_close_packet(c, prev_padding);
	if (c->closed - smp_load_acquire(&c->consumed) >= relay->n_subbufs)
		return 0;
	c->buf = buf;
	c->cpu = buf->cpu;
	krelay_open_packet(c, buf, subbuf);
	return 1;
}

/* relay.c wants both, and something that is no error, though a channel without a name makes no file. */
static struct dentry *krelay_no_file(const char *name, struct dentry *parent, umode_t mode, struct rchan_buf *buf,
				     int *is_global)
{
	static struct dentry none;

	return &none;
}

static int krelay_no_remove(struct dentry *dentry)
{
	return 0;
}

static const struct rchan_callbacks krelay_callbacks = {
	.subbuf_start = krelay_subbuf_start,
	.create_buf_file = krelay_no_file,
	.remove_buf_file = krelay_no_remove,
};

static u64 *krelay_give_up(struct krelay_cpu *c, enum gkhi_lost_reason reason)
{
	krelay_count_lost(c, reason);
	barrier();
	WRITE_ONCE(c->busy, 0);
	return NULL;
}

u64 *krelay_reserve_slow(struct krelay_cpu *c, u32 words)
{
	size_t bytes = 8 * (size_t)words;
	struct rchan_buf *buf = c->buf;
	u64 *record;

	if (!buf)	/* a cpu that came after us */
		return krelay_give_up(c, GKHI_LOST_NO_ROUTE);
	if (bytes > c->relay->subbuf_size - GKHI_PACKET_HEADER)
		return krelay_give_up(c, GKHI_LOST_TOO_BIG);
	if (c->now >= c->deadline && c->open && !relay_switch_subbuf(buf, bytes))
		return krelay_give_up(c, GKHI_LOST_FULL);
	record = relay_reserve(c->relay->rchan, bytes);
	return record ?: krelay_give_up(c, GKHI_LOST_FULL);
}

/* L4. A packet with nothing in it stays as it is. */
static void krelay_flush_stream(struct krelay_cpu *c)
{
	unsigned long flags;

	local_irq_save(flags);
	/* an interrupted client will end its record, and somebody will flush again */
	if (c->buf && c->open && !READ_ONCE(c->busy) && c->buf->offset > GKHI_PACKET_HEADER) {
		WRITE_ONCE(c->busy, 1);
		barrier();
		c->now = c->relay->clock();
		relay_switch_subbuf(c->buf, 0);
		barrier();
		WRITE_ONCE(c->busy, 0);
	}
	local_irq_restore(flags);
}

static void krelay_flush_here(void *data)
{
	struct krelay *relay = data;

	krelay_flush_stream(this_cpu_ptr(relay->cpu));
}

/**
 * krelay_flush - end the open packets, so that everything written can be read
 * @relay: a relay that is in use, or was
 *
 * Context: task, may sleep.
 */
void krelay_flush(struct krelay *relay)
{
	on_each_cpu(krelay_flush_here, relay, 1);
}

/**
 * krelay_flush_cpu - the same for one stream
 * @relay: a relay that is in use, or was
 * @cpu: whose stream
 *
 * Context: task, may sleep; one at a time for a stream.
 */
void krelay_flush_cpu(struct krelay *relay, u32 cpu)
{
	cpus_read_lock();
	if (cpu_online(cpu))
		smp_call_function_single(cpu, krelay_flush_here, relay, 1);
	else	/* where nobody writes */
		krelay_flush_stream(per_cpu_ptr(relay->cpu, cpu));
	cpus_read_unlock();
}

/**
 * krelay_page - of the sub-buffers, for a mapping
 * @relay: the relay
 * @cpu: whose stream
 * @index: of the page
 *
 * Context: task.
 * Return: NULL: there is none.
 */
struct page *krelay_page(struct krelay *relay, u32 cpu, unsigned long index)
{
	struct rchan_buf *buf = READ_ONCE(per_cpu_ptr(relay->cpu, cpu)->buf);

	return buf && index < buf->page_count ? buf->page_array[index] : NULL;
}

/**
 * krelay_readable - is there a packet to consume?
 * @relay: the relay
 * @cpu: whose stream
 *
 * Context: any.
 */
bool krelay_readable(struct krelay *relay, u32 cpu)
{
	struct krelay_cpu *c = per_cpu_ptr(relay->cpu, cpu);

	return smp_load_acquire(&c->closed) != READ_ONCE(c->consumed);
}

/**
 * krelay_peek - the oldest packet that was not consumed, in place
 * @relay: the relay
 * @cpu: whose stream
 *
 * Context: task; the consumer of this stream. The packet stays until krelay_consume().
 * Return: NULL: none is finished.
 */
const struct gkhi_packet *krelay_peek(struct krelay *relay, u32 cpu)
{
	struct krelay_cpu *c = per_cpu_ptr(relay->cpu, cpu);
	u64 index;

	if (!krelay_readable(relay, cpu))
		return NULL;
	index = READ_ONCE(c->consumed) & (relay->n_subbufs - 1);
	return c->buf->start + index * relay->subbuf_size;
}

/**
 * krelay_consume - acknowledge the packet that krelay_peek() shows
 * @relay: the relay
 * @cpu: whose stream
 *
 * Context: task; the consumer of this stream.
 */
void krelay_consume(struct krelay *relay, u32 cpu)
{
	struct krelay_cpu *c = per_cpu_ptr(relay->cpu, cpu);

	if (krelay_readable(relay, cpu))
		smp_store_release(&c->consumed, READ_ONCE(c->consumed) + 1);
}

/**
 * krelay_read_packet - copy the next packet out and acknowledge it
 * @relay: the relay
 * @cpu: whose stream
 * @packet: subbuf_size bytes
 *
 * Context: task; the consumer of this stream.
 * Return: 1, or 0 when no further packet is finished.
 */
int krelay_read_packet(struct krelay *relay, u32 cpu, struct gkhi_packet *packet)
{
	const struct gkhi_packet *from = krelay_peek(relay, cpu);

	if (!from)
		return 0;
	memcpy(packet, from, relay->subbuf_size);
	krelay_consume(relay, cpu);
	return 1;
}

/**
 * krelay_alloc - make the streams of @relay
 * @relay: its fields but @rchan and @cpu are set
 *
 * Context: task, may sleep.
 * Return: 0, -EINVAL (sizes), or -ENOMEM with nothing left behind.
 */
int krelay_alloc(struct krelay *relay)
{
	int cpu;

	if (!is_power_of_2(relay->n_subbufs) || relay->n_subbufs < 2 || relay->subbuf_size < GKHI_SUBBUF_MIN ||
	    relay->subbuf_size % PAGE_SIZE || (u64)relay->n_subbufs * relay->subbuf_size > U32_MAX)
		return -EINVAL;
	relay->cpu = alloc_percpu(struct krelay_cpu);
	if (!relay->cpu)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct krelay_cpu *c = per_cpu_ptr(relay->cpu, cpu);

		c->relay = relay;
		init_irq_work(&c->wakeup, krelay_wake_up);
		init_waitqueue_head(&c->readers);
	}
	relay->rchan = relay_open(NULL, NULL, relay->subbuf_size, relay->n_subbufs, &krelay_callbacks, relay);
	if (!relay->rchan) {
		free_percpu(relay->cpu);
		relay->cpu = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * krelay_free - after a grace period: nobody writes or reads any more
 * @relay: from krelay_alloc()
 */
void krelay_free(struct krelay *relay)
{
	int cpu;

	relay_close(relay->rchan);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(relay->cpu, cpu)->wakeup);
	free_percpu(relay->cpu);
	relay->rchan = NULL;
	relay->cpu = NULL;
}
