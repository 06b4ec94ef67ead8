// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c - the slow half of the kernel's ring: crossing into the next packet,
 * closing one early, and the reader. ring.h has the rules (R1..R7).
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "ring.h"

static struct gkhi_packet *kring_packet(struct kring_cpu *c, u32 position)
{
	return (struct gkhi_packet *)(c->data + (position & c->data_mask & ~c->subbuf_mask));
}

static u32 kring_index(struct kring_cpu *c, u32 position)
{
	return (position & c->data_mask) >> c->subbuf_shift;
}

/* R3: are @words of this lap committed in the sub-buffer at @position? */
static bool kring_has(struct kring_cpu *c, u32 position, u32 words)
{
	u32 shift = ilog2(c->ring->n_subbufs), want = ((position & ~c->data_mask) >> shift) + words;

	return ((smp_load_acquire(&c->committed[kring_index(c, position)]) - want) & (U32_MAX >> shift)) == 0;
}

static u64 kring_lost(struct kring_cpu *c)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < GKHI_N_LOST_REASONS; i++)
		sum += READ_ONCE(c->lost[i]);
	return sum;
}

/**
 * kring_count_lost - an event was not written
 * @c: this cpu's stream
 * @reason: why
 *
 * A nested context may do the same between load and store: so by one instruction.
 * Context: any, preemption off.
 */
void kring_count_lost(struct kring_cpu *c, enum gkhi_lost_reason reason)
{
	asm volatile("incq %0" : "+m"(c->lost[reason]) : : "memory");
}

/* R4: we own [at, border) of the packet that holds @at. */
static void kring_leave(struct kring_cpu *c, u32 at, u32 border, u64 time)
{
	struct gkhi_packet *p = kring_packet(c, at);

	p->timestamp_end = time;
	p->content_size = (u64)(at & c->subbuf_mask) * 64;
	p->events_discarded = kring_lost(c);
	kring_commit_at(c, kring_index(c, at), border - at);
}

/* R4: we own the header of the packet at @position. */
static void kring_open(struct kring_cpu *c, u64 position, u64 time, u64 count)
{
	struct gkhi_packet *p = kring_packet(c, position);

	p->magic = GKHI_CTF_MAGIC;
	memcpy(p->uuid, c->ring->uuid, sizeof(p->uuid));
	p->stream_id = c->ring->stream_class;
	p->timestamp_begin = time;
	p->packet_size = (u64)c->ring->subbuf_size * 8;
	p->packet_seq_num = position >> c->subbuf_shift;
	p->count_begin = count;
	p->cpu_id = c->cpu;
	p->pid = 0;
	p->generation = 0;
	p->reserved = 0;
	WRITE_ONCE(c->count, count);
	WRITE_ONCE(c->opened, position);
	WRITE_ONCE(c->deadline, time + GKHI_PACKET_MAX_TICKS);
	kring_commit_at(c, kring_index(c, position), GKHI_PACKET_HEADER / 8);
}

/* R6, R7: is the packet at @position in the way of nobody? */
static bool kring_may_take(struct kring_cpu *c, u64 position)
{
	if (c->ring->discard && position - smp_load_acquire(&c->tail) > c->data_mask)
		return false;
	return kring_has(c, position, 0);
}

/* Move from @old into the next packet with @words words in it. -EAGAIN: @old is stale. */
static int kring_cross(struct kring_cpu *c, u64 *old, u32 words, u64 time, u32 *record)
{
	u64 count = READ_ONCE(c->count), position = READ_ONCE(c->opened), new;
	u32 at = *old, border, start;

	border = (at | c->subbuf_mask) + 1;
	position += (u32)(border - (u32)position);
	count += (u32)((u32)(*old >> 32) - (u32)count);
	if (!kring_may_take(c, position))
		return -EBUSY;
	start = border + GKHI_PACKET_HEADER / 8;
	new = (u64)(u32)(count + (words ? 1 : 0)) << 32 | (start + words);
	if (!kring_take(c, old, new))
		return -EAGAIN;
	kring_leave(c, at, border, time);
	kring_open(c, position, time, count);
	*record = start;
	/* the word is out before we look who waits; whoever comes later finds the packet */
	smp_mb();
	if (waitqueue_active(&c->readers))
		irq_work_queue(&c->wakeup);
	return 0;
}

u64 *kring_reserve_slow(struct kring_cpu *c, u32 words, u64 *time)
{
	u32 room = c->subbuf_mask + 1 - GKHI_PACKET_HEADER / 8, at, record;
	u64 old = READ_ONCE(c->word);
	int err;

	if (words >= room) {
		kring_count_lost(c, GKHI_LOST_TOO_BIG);
		return NULL;
	}
	for (;;) {
		*time = c->ring->clock();
		at = old;
		if (!((at ^ (at + words)) & ~c->subbuf_mask) && *time < READ_ONCE(c->deadline)) {
			/* somebody nested has crossed meanwhile */
			if (kring_take(c, &old, old + (1ull << 32 | words)))
				return c->data + (at & c->data_mask);
			continue;
		}
		err = kring_cross(c, &old, words, *time, &record);
		if (!err)
			return c->data + (record & c->data_mask);
		if (err == -EBUSY) {
			kring_count_lost(c, GKHI_LOST_FULL);
			return NULL;
		}
	}
}

/**
 * kring_close_packet - make everything written so far readable
 * @c: this cpu's stream
 *
 * Opens an empty packet; nothing happens when the open one is empty already.
 * Context: on the stream's cpu, interrupts off.
 */
void kring_close_packet(struct kring_cpu *c)
{
	u64 old = READ_ONCE(c->word);
	u32 record;

	do {
		if (((u32)old & c->subbuf_mask) == GKHI_PACKET_HEADER / 8)
			return;
	} while (kring_cross(c, &old, 0, c->ring->clock(), &record) == -EAGAIN);
}

/* Words between @cursor and the open packet; @opened may lag behind the word, never run ahead of it. */
static u64 kring_behind(struct kring_cpu *c, u64 cursor)
{
	u64 opened = READ_ONCE(c->opened);

	smp_rmb();
	return opened + (u32)(((u32)READ_ONCE(c->word) & ~c->subbuf_mask) - (u32)opened) - cursor;
}

/**
 * kring_oldest - a cursor for a reader that begins now
 * @c: a stream of any cpu
 *
 * Context: any.
 * Return: the oldest packet that may still be whole, in discard mode the first
 * that nobody consumed.
 */
u64 kring_oldest(struct kring_cpu *c)
{
	u64 head = READ_ONCE(c->opened), size = (u64)c->data_mask + 1;

	if (c->ring->discard)
		return READ_ONCE(c->tail);
	return max(READ_ONCE(c->first), head < size ? 0 : head - size + c->subbuf_mask + 1);
}

/**
 * kring_readable - would kring_read_packet() find one?
 * @c: a stream of any cpu
 * @cursor: as of the reader
 *
 * Context: any.
 */
bool kring_readable(struct kring_cpu *c, u64 cursor)
{
	u64 behind = kring_behind(c, cursor);

	return behind && (behind > c->data_mask || kring_has(c, cursor, c->subbuf_mask + 1));
}

/**
 * kring_read_packet - copy the next finished packet out
 * @c: a stream of any cpu
 * @cursor: the reader's position, in words; moves behind the packet, past those
 *          that were overwritten (their events: count_begin tells)
 * @packet: subbuf_size bytes
 *
 * Context: task.
 * Return: 1, or 0 when no further packet is finished.
 */
int kring_read_packet(struct kring_cpu *c, u64 *cursor, struct gkhi_packet *packet)
{
	u32 subbuf = c->subbuf_mask + 1;
	u64 size = (u64)c->data_mask + 1, behind;

	for (;;) {
		behind = kring_behind(c, *cursor);
		if (!behind)
			return 0;
		/* the one that is open, and the one that may be taken next, are not ours */
		if (behind >= size) {
			*cursor += ((behind - size) / subbuf + 1) * subbuf;
			continue;
		}
		if (!kring_has(c, *cursor, subbuf))
			return 0;
		data_race(memcpy(packet, kring_packet(c, *cursor), c->ring->subbuf_size));
		/* Still of this lap after the copy? Then every byte of it was. */
		smp_rmb();
		if (kring_behind(c, *cursor) >= size)
			continue;
		*cursor += subbuf;
		return 1;
	}
}

/**
 * kring_consume - discard mode: packets before @cursor may be overwritten
 * @c: a stream of any cpu
 * @cursor: of the one consumer
 *
 * Context: task.
 */
void kring_consume(struct kring_cpu *c, u64 cursor)
{
	smp_store_release(&c->tail, cursor);
}

/**
 * kring_head - position of the open packet
 * @c: a stream of any cpu
 *
 * Context: any.
 */
u64 kring_head(struct kring_cpu *c)
{
	return kring_behind(c, 0);
}

/**
 * kring_count - events written so far
 * @c: a stream of any cpu
 *
 * Context: any.
 */
u64 kring_count(struct kring_cpu *c)
{
	u64 count = READ_ONCE(c->count);

	smp_rmb();
	return count + (u32)((u32)(READ_ONCE(c->word) >> 32) - (u32)count);
}

static void kring_flush_here(void *data)
{
	unsigned long flags;

	local_irq_save(flags);
	kring_close_packet(data);
	local_irq_restore(flags);
}

/**
 * kring_flush - make everything written so far readable
 * @ring: the ring
 * @cpu: whose stream
 *
 * Context: task, may sleep; one at a time for a stream.
 */
void kring_flush(struct kring *ring, u32 cpu)
{
	struct kring_cpu *c = per_cpu_ptr(ring->cpu, cpu);

	cpus_read_lock();
	if (cpu_online(cpu))
		smp_call_function_single(cpu, kring_flush_here, c, 1);
	else	/* where nobody writes */
		kring_flush_here(c);
	cpus_read_unlock();
}

/**
 * kring_forget - what was written so far is not read any more
 * @c: a stream of any cpu
 *
 * Context: task, behind kring_flush(); the consumer, if there is one, waits.
 */
void kring_forget(struct kring_cpu *c)
{
	u64 head = kring_head(c);

	WRITE_ONCE(c->first, head);
	smp_store_release(&c->tail, head);
}

static void kring_wake_up(struct irq_work *work)
{
	wake_up_all(&container_of(work, struct kring_cpu, wakeup)->readers);
}

static void kring_start(struct kring_cpu *c, struct kring *ring, u32 cpu)
{
	u32 words = ring->subbuf_size / 8;

	c->ring = ring;
	c->cpu = cpu;
	c->data_mask = words * ring->n_subbufs - 1;
	c->subbuf_mask = words - 1;
	c->subbuf_shift = ilog2(words);
	init_irq_work(&c->wakeup, kring_wake_up);
	init_waitqueue_head(&c->readers);
	c->word = GKHI_PACKET_HEADER / 8;
	kring_open(c, 0, ring->clock(), 0);
}

/**
 * kring_alloc - make the streams of @ring
 * @ring: its fields but @cpu are set
 *
 * Context: task, may sleep.
 * Return: 0, -EINVAL (sizes), or -ENOMEM with nothing left behind.
 */
int kring_alloc(struct kring *ring)
{
	int cpu;

	if (!is_power_of_2(ring->n_subbufs) || ring->n_subbufs < 2 ||
	    !is_power_of_2(ring->subbuf_size) || ring->subbuf_size < GKHI_SUBBUF_MIN ||
	    (u64)ring->n_subbufs * ring->subbuf_size > (u64)U32_MAX * 4)
		return -EINVAL;
	ring->cpu = alloc_percpu(struct kring_cpu);
	if (!ring->cpu)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct kring_cpu *c = per_cpu_ptr(ring->cpu, cpu);

		c->data = vzalloc_node((size_t)ring->n_subbufs * ring->subbuf_size, cpu_to_node(cpu));
		c->committed = kvcalloc(ring->n_subbufs, sizeof(*c->committed), GFP_KERNEL);
		if (!c->data || !c->committed) {
			kring_free(ring);
			return -ENOMEM;
		}
		kring_start(c, ring, cpu);
	}
	return 0;
}

/**
 * kring_free - after a grace period: nobody writes or reads any more
 * @ring: from kring_alloc()
 */
void kring_free(struct kring *ring)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kring_cpu *c = per_cpu_ptr(ring->cpu, cpu);

		if (c->ring)
			irq_work_sync(&c->wakeup);
		vfree(c->data);
		kvfree(c->committed);
	}
	free_percpu(ring->cpu);
	ring->cpu = NULL;
}
