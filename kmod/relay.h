/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay.h - the managed transport on kernel/relay.c: nothing is overwritten, a
 * consumer acknowledges packets, what does not fit is counted.
 *
 *   call                         context                  may run against
 *   krelay_begin, _end           any, preemption off      everything; a nested context
 *                                                         of the same cpu loses its event
 *   krelay_flush, _flush_cpu     task, may sleep          writers, the consumer
 *   krelay_read_packet, _peek,   task                     writers; one consumer of a
 *   _consume                                              stream
 *
 * relay.c knows sub-buffers; what makes packets of them is its client's callback:
 *
 *  L1 subbuf_start ends the packet that was open (once: relay.c asks again at every
 *     event while all sub-buffers are full) and begins the next one in space it
 *     reserves before any event can enter.
 *  L2 @busy is set from before the reservation until the record is whole. Who finds
 *     it set has interrupted a writer, by NMI, trap or interrupt, and its event is
 *     lost (contention): relay.c must not be entered twice.
 *  L3 The clock is read inside that region: times never go back in a stream, and
 *     the callback ends and begins packets with the very time of the event that
 *     made it do so.
 *  L4 Only the owning cpu flushes: relay_flush() from elsewhere tears records.
 *  L5 @closed and @consumed are ours, and so is the wake-up. relay.c has such counts
 *     too, but reads and writes them plainly, from two cpus, and wakes its readers
 *     before the callback has ended the packet they would look for.
 */
#ifndef GKHI_KMOD_RELAY_H
#define GKHI_KMOD_RELAY_H

#include <linux/cache.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <gkhi/packet.h>
#include <gkhi/ring.h>

struct krelay;

/**
 * struct krelay_cpu - one stream
 * @busy: L2
 * @open: a packet is open
 * @cpu: whose
 * @deadline: tick from which the open packet is too old (P3)
 * @now: time of the event under way (L3)
 * @buf: relay.c's
 * @packet: the open one
 * @relay: the stream's relay
 * @count: events written
 * @lost: events not written, by reason
 * @closed: packets ended
 * @consumed: packets the consumer has acknowledged
 * @wakeup: wakes @readers, from any context
 * @readers: wait for packets to be ended
 */
struct krelay_cpu {
	u32 busy;
	bool open;
	u32 cpu;
	u64 deadline;
	u64 now;
	struct rchan_buf *buf;
	struct gkhi_packet *packet;
	struct krelay *relay;
	u64 count;
	u64 lost[GKHI_N_LOST_REASONS];
	u64 closed ____cacheline_aligned;
	u64 consumed ____cacheline_aligned;
	struct irq_work wakeup;
	wait_queue_head_t readers;
};

/**
 * struct krelay - a relay over all cpus that are online when it is made
 * @rchan: relay.c's
 * @cpu: the streams
 * @n_subbufs: sub-buffers per stream
 * @subbuf_size: bytes of one
 * @stream_class: enum gkhi_stream_class
 * @uuid: of the producer, for the packet headers
 * @clock: ticks; callable from NMI
 */
struct krelay {
	struct rchan *rchan;
	struct krelay_cpu __percpu *cpu;
	u32 n_subbufs;
	u32 subbuf_size;
	u32 stream_class;
	u8 uuid[16];
	u64 (*clock)(void);
};

int krelay_alloc(struct krelay *relay);
void krelay_free(struct krelay *relay);
void krelay_count_lost(struct krelay_cpu *c, enum gkhi_lost_reason reason);
u64 *krelay_reserve_slow(struct krelay_cpu *c, u32 words);
void krelay_flush(struct krelay *relay);
void krelay_flush_cpu(struct krelay *relay, u32 cpu);
struct page *krelay_page(struct krelay *relay, u32 cpu, unsigned long index);
bool krelay_readable(struct krelay *relay, u32 cpu);
const struct gkhi_packet *krelay_peek(struct krelay *relay, u32 cpu);
void krelay_consume(struct krelay *relay, u32 cpu);
int krelay_read_packet(struct krelay *relay, u32 cpu, struct gkhi_packet *packet);

/**
 * krelay_begin - room for a record of @words words, this cpu's stream is ours
 * @c: this cpu's stream
 * @words: event header and payload, at least 1
 * @time: out: the record's time
 * @clock: c->relay->clock, for the compiler to inline
 *
 * Context: any, preemption off, better with interrupts off: then only NMIs and
 * traps lose events to this one.
 * Return: the record, krelay_end() must follow; or NULL with the loss counted.
 */
static __always_inline u64 *krelay_begin(struct krelay_cpu *c, u32 words, u64 *time, u64 (*clock)(void))
{
	struct rchan_buf *buf;
	u64 *record;

	if (unlikely(READ_ONCE(c->busy))) {
		krelay_count_lost(c, GKHI_LOST_CONTENTION);
		return NULL;
	}
	WRITE_ONCE(c->busy, 1);
	barrier();
	*time = clock();
	c->now = *time;
	buf = c->buf;
	if (likely(buf && buf->offset + 8 * (size_t)words <= c->relay->subbuf_size && *time < c->deadline)) {
		/* what relay_reserve() does, without looking for the buffer again */
		record = buf->data + buf->offset;
		buf->offset += 8 * (size_t)words;
		return record;
	}
	return krelay_reserve_slow(c, words);
}

/**
 * krelay_end - the record is whole
 * @c: the stream it was reserved in
 */
static __always_inline void krelay_end(struct krelay_cpu *c)
{
	c->count++;
	barrier();
	WRITE_ONCE(c->busy, 0);
}

#endif
