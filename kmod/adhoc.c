// SPDX-License-Identifier: GPL-2.0-only
/*
 * adhoc.c - the bare buffer's memory, and packets made from it. adhoc.h has the
 * rules (A1..A3).
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "adhoc.h"

/**
 * kadhoc_count_lost - an event was not written
 * @c: this cpu's stream
 * @reason: why
 *
 * A nested context may do the same between load and store: so by one instruction.
 * Context: any, preemption off.
 */
void kadhoc_count_lost(struct kadhoc_cpu *c, enum gkhi_lost_reason reason)
{
	asm volatile("incq %0" : "+m"(c->lost[reason]) : : "memory");
}

static u64 kadhoc_lost(const struct kadhoc_cpu *c)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < GKHI_N_LOST_REASONS; i++)
		sum += READ_ONCE(c->lost[i]);
	return sum;
}

/**
 * kadhoc_readable - would kadhoc_read_packet() find anything?
 * @c: a stream of any cpu
 * @cursor: as of the reader
 *
 * Context: any.
 */
bool kadhoc_readable(const struct kadhoc_cpu *c, const struct kadhoc_cursor *cursor)
{
	return READ_ONCE(c->next) != max(cursor->next, READ_ONCE(c->first));
}

/* Copy the record at @position to @to (15 words). Its words; 0: overwritten; -EAGAIN: not yet whole. */
static int kadhoc_copy(const struct kadhoc_cpu *c, u64 position, u64 *to, u64 *stamp)
{
	const u64 *slot = c->data + (position & c->mask) * KADHOC_SLOT_WORDS;
	u32 words;

	*stamp = smp_load_acquire(slot);
	if (((*stamp >> 8 ^ (position + 1)) & KADHOC_POSITION_MASK) == 0) {
		words = min_t(u32, *stamp & 0xff, KADHOC_RECORD_WORDS);
		data_race(memcpy(to, slot + 1, words * 8));
		smp_rmb();
		if (READ_ONCE(*slot) == *stamp)
			return words;
	}
	return READ_ONCE(c->next) - position > c->mask ? 0 : -EAGAIN;
}

static u64 kadhoc_time(const struct kadhoc *adhoc, const u64 *record, u64 stamp)
{
	switch (adhoc->stream_class) {
	case GKHI_STREAM_COMPACT:
		return stamp >> 48 << GKHI_TIME_BITS | record[0] >> GKHI_ID_BITS;
	case GKHI_STREAM_WIDE:
		return record[0];
	default:
		return 0;
	}
}

static void kadhoc_start_packet(const struct kadhoc_cpu *c, const struct kadhoc_cursor *cursor, struct gkhi_packet *p)
{
	memset(p, 0, sizeof(*p));
	p->magic = GKHI_CTF_MAGIC;
	memcpy(p->uuid, c->adhoc->uuid, sizeof(p->uuid));
	p->stream_id = c->adhoc->stream_class;
	p->packet_size = (u64)c->adhoc->packet_size * 8;
	p->packet_seq_num = cursor->sequence;
	p->count_begin = cursor->next;
	p->cpu_id = c->cpu;
}

/**
 * kadhoc_read_packet - make a packet of what is there
 * @c: a stream of any cpu
 * @cursor: the reader's place, at first zeros; moves behind what is read, past what
 *          was overwritten (count_begin tells)
 * @packet: packet_size bytes
 *
 * A packet ends where a record is missing, so that count_begin accounts for it, and
 * before it gets too old (P3).
 * Context: task.
 * Return: 1, or 0 when there is nothing.
 */
int kadhoc_read_packet(struct kadhoc_cpu *c, struct kadhoc_cursor *cursor, struct gkhi_packet *packet)
{
	u64 *at = (u64 *)packet + GKHI_PACKET_HEADER / 8, *end = (u64 *)packet + c->adhoc->packet_size / 8;
	u64 next = READ_ONCE(c->next), n = 0, stamp, time, last = 0;
	int words;

	cursor->next = max(cursor->next, READ_ONCE(c->first));
	if (next - cursor->next > c->mask + 1)
		cursor->next = next - (c->mask + 1);
	for (; cursor->next != next && end - at >= KADHOC_RECORD_WORDS; cursor->next++) {
		words = kadhoc_copy(c, cursor->next, at, &stamp);
		if (words < 0 || (!words && n))
			break;
		if (!words)
			continue;
		time = kadhoc_time(c->adhoc, at, stamp);
		if (!n) {
			kadhoc_start_packet(c, cursor, packet);
			packet->timestamp_begin = time;
		}
		if (time - packet->timestamp_begin >= GKHI_PACKET_MAX_TICKS)
			break;
		n++;
		last = time;
		at += words;
	}
	if (!n)
		return 0;
	cursor->sequence++;
	packet->timestamp_end = last;
	packet->content_size = (u64)(at - (u64 *)packet) * 64;
	packet->events_discarded = kadhoc_lost(c);
	return 1;
}

/**
 * kadhoc_alloc - make the streams of @adhoc
 * @adhoc: its fields but @cpu are set
 *
 * Context: task, may sleep.
 * Return: 0, -EINVAL (sizes), or -ENOMEM with nothing left behind.
 */
int kadhoc_alloc(struct kadhoc *adhoc)
{
	u32 slots = adhoc->size / (KADHOC_SLOT_WORDS * 8);
	int cpu;

	if (!is_power_of_2(adhoc->size) || adhoc->size < 4 * GKHI_SUBBUF_MIN || adhoc->packet_size < GKHI_SUBBUF_MIN)
		return -EINVAL;
	adhoc->cpu = alloc_percpu(struct kadhoc_cpu);
	if (!adhoc->cpu)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct kadhoc_cpu *c = per_cpu_ptr(adhoc->cpu, cpu);

		c->data = vzalloc_node(adhoc->size, cpu_to_node(cpu));
		if (!c->data) {
			kadhoc_free(adhoc);
			return -ENOMEM;
		}
		c->adhoc = adhoc;
		c->cpu = cpu;
		c->mask = slots - 1;
	}
	return 0;
}

/**
 * kadhoc_free - after a grace period: nobody writes or reads any more
 * @adhoc: from kadhoc_alloc()
 */
void kadhoc_free(struct kadhoc *adhoc)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(per_cpu_ptr(adhoc->cpu, cpu)->data);
	free_percpu(adhoc->cpu);
	adhoc->cpu = NULL;
}
