/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - the kernel's per-CPU ring: CTF packets in place, overwrite, written
 * from any context up to NMI, read while it is written.
 *
 *   call                       context                     may run against
 *   kring_reserve, _commit     any, preemption off         nested contexts of the same
 *                                                          cpu; readers on any cpu
 *   kring_close_packet         the cpu's own, irqs off     nested NMIs; readers
 *   kring_flush                task, may sleep             writers, readers
 *   kring_forget               task; nobody consumes       writers
 *   kring_read_packet          task, may sleep             writers on any cpu, other
 *                                                          readers with a cursor of
 *                                                          their own
 *
 * One u64 word per cpu holds the count of events reserved (upper half, modulo
 * 2^32) and the position in 8-byte words (lower half, modulo 2^32: it wraps only
 * where a packet ends, so nothing carries); one unlocked cmpxchg of it is the
 * reservation. Invariants:
 *
 *  R1 The clock is read before the cmpxchg that uses it, and again when that
 *     fails: so times in a stream never go back.
 *  R2 A position never stands on a sub-buffer's first word: whoever crosses
 *     writes the new packet's header at once, and no record ends exactly at the
 *     border.
 *  R3 committed[i] counts the words committed in sub-buffer i for ever. It is
 *     complete for lap n when it equals (n + 1) * subbuf_words, modulo
 *     2^32 / n_subbufs, which is when positions repeat. A sub-buffer is taken
 *     again only when complete; else the event is lost, and counted.
 *  R4 The opener writes magic, begin, sequence and count_begin of the packet it
 *     opens; it owns the tail of the packet it leaves, and writes end, content
 *     and discarded there before it commits that tail.
 *  R5 So a packet is final when its sub-buffer is complete.
 *  R6 What 32 bits count is extended to 64 by a reference that was read before the
 *     cmpxchg: a nested opener that stores a later one makes the cmpxchg fail.
 *  R7 In discard mode a sub-buffer is taken only when its packet was consumed:
 *     position + size > @tail. In overwrite mode nobody waits for a reader.
 *
 * Reservations nest like interrupts do, as a stack: at most one record per
 * context level lies open.
 */
#ifndef GKHI_KMOD_RING_H
#define GKHI_KMOD_RING_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <gkhi/packet.h>
#include <gkhi/ring.h>

struct kring;

/**
 * struct kring_cpu - one stream
 * @word: count << 32 | position
 * @deadline: tick from which the open packet is too old (P3)
 * @data: @n_subbufs sub-buffers
 * @data_mask: words of @data - 1
 * @subbuf_mask: words of a sub-buffer - 1
 * @subbuf_shift: log2 of the words of a sub-buffer
 * @committed: R3, per sub-buffer
 * @ring: the stream's ring
 * @count: events written, as of some packet's opening (R6)
 * @opened: position of the newest packet (R6)
 * @lost: events not written, by reason
 * @tail: discard mode: position of the first packet that is not consumed
 * @first: position of the first packet that was not forgotten
 * @wakeup: wakes @readers, from any context
 * @readers: wait for packets to be finished
 */
struct kring_cpu {
	u64 word;
	u64 deadline;
	u64 *data;
	u32 data_mask;
	u32 subbuf_mask;
	u32 subbuf_shift;
	u32 cpu;
	u32 *committed;
	struct kring *ring;
	u64 count ____cacheline_aligned;
	u64 opened;
	u64 lost[GKHI_N_LOST_REASONS];
	u64 tail ____cacheline_aligned;
	u64 first;
	struct irq_work wakeup;
	wait_queue_head_t readers;
};

/**
 * struct kring - a ring over all possible cpus
 * @cpu: the streams
 * @n_subbufs: sub-buffers per stream, a power of two
 * @subbuf_size: bytes of one, a power of two
 * @stream_class: enum gkhi_stream_class
 * @discard: full means lost, instead of overwritten
 * @uuid: of the producer, for the packet headers
 * @clock: ticks; callable from NMI
 */
struct kring {
	struct kring_cpu __percpu *cpu;
	u32 n_subbufs;
	u32 subbuf_size;
	u32 stream_class;
	bool discard;
	u8 uuid[16];
	u64 (*clock)(void);
};

int kring_alloc(struct kring *ring);
void kring_free(struct kring *ring);
u64 *kring_reserve_slow(struct kring_cpu *c, u32 words, u64 *time);
void kring_close_packet(struct kring_cpu *c);
void kring_count_lost(struct kring_cpu *c, enum gkhi_lost_reason reason);
u64 kring_oldest(struct kring_cpu *c);
bool kring_readable(struct kring_cpu *c, u64 cursor);
int kring_read_packet(struct kring_cpu *c, u64 *cursor, struct gkhi_packet *packet);
void kring_consume(struct kring_cpu *c, u64 cursor);
u64 kring_head(struct kring_cpu *c);
u64 kring_count(struct kring_cpu *c);
void kring_flush(struct kring *ring, u32 cpu);
void kring_forget(struct kring_cpu *c);

static __always_inline bool kring_take(struct kring_cpu *c, u64 *old, u64 new)
{
	bool ok;

	/* this cpu only: no lock prefix; atomic against its interrupts and NMIs */
	asm volatile("cmpxchgq %[new],%[word]"
		     : "=@ccz"(ok), [word] "+m"(c->word), "+a"(*old)
		     : [new] "r"(new) : "memory");
	return ok;
}

/**
 * kring_reserve - room for a record of @words words
 * @c: this cpu's stream
 * @words: event header and payload, at least 1
 * @time: out: the record's time
 * @clock: c->ring->clock, for the compiler to inline
 *
 * Context: any, preemption off; kring_commit() follows before the context ends.
 * Return: the record, or NULL with the loss counted.
 */
static __always_inline u64 *kring_reserve(struct kring_cpu *c, u32 words, u64 *time, u64 (*clock)(void))
{
	u64 old = READ_ONCE(c->word);
	u32 at;

	do {
		*time = clock();
		at = old;
		if (unlikely(((at ^ (at + words)) & ~c->subbuf_mask) || *time >= READ_ONCE(c->deadline)))
			return kring_reserve_slow(c, words, time);
	} while (!kring_take(c, &old, old + (1ull << 32 | words)));
	return c->data + (at & c->data_mask);
}

/* The record's words before the count that says they are there (R3). */
static __always_inline void kring_commit_at(struct kring_cpu *c, u32 subbuf, u32 words)
{
	barrier();
	asm volatile("addl %1,%0" : "+m"(c->committed[subbuf]) : "er"(words) : "memory");
}

/**
 * kring_commit - the record is whole
 * @c: the stream it was reserved in
 * @record: from kring_reserve()
 * @words: as reserved
 */
static __always_inline void kring_commit(struct kring_cpu *c, const u64 *record, u32 words)
{
	kring_commit_at(c, (u32)(record - c->data) >> c->subbuf_shift, words);
}

#endif
