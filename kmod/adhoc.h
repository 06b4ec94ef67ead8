/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * adhoc.h - a bare circular buffer per cpu: slots of one size, no packets, no
 * limits to check, the shortest way to commit. Packets are made when it is read.
 *
 *   call                         context                 may run against
 *   kadhoc_reserve, _commit      any, preemption off     nested contexts of the same
 *                                                        cpu; readers on any cpu
 *   kadhoc_read_packet           task                    writers on any cpu, other
 *                                                        readers with a cursor of
 *                                                        their own
 *
 * A slot is its stamp and a record:
 *
 *   +-------+---------------------------+
 *   | stamp | record, at most 15 words  |   stamp: 16 bits of time, 40 of position + 1,
 *   +-------+---------------------------+          8 of words; 0: being written
 *
 *  A1 The clock is read before the cmpxchg that takes the slot, and again when that
 *     fails: times never go back.
 *  A2 The stamp is 0 before a word of the record changes, and its final value after
 *     the last one: a copy is whole when the stamp was the same before and after.
 *  A3 A record that lies open while contexts nested in it write a whole buffer meets
 *     one of theirs in its slot. Nobody checks: size the buffer for it.
 */
#ifndef GKHI_KMOD_ADHOC_H
#define GKHI_KMOD_ADHOC_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <gkhi/packet.h>
#include <gkhi/ring.h>

#define KADHOC_SLOT_WORDS	16u
#define KADHOC_RECORD_WORDS	(KADHOC_SLOT_WORDS - 1)
#define KADHOC_POSITION_MASK	((1ull << 40) - 1)

struct kadhoc;

/**
 * struct kadhoc_cpu - one stream
 * @next: position of the next record; they count from 0
 * @data: the slots
 * @mask: number of slots - 1
 * @cpu: whose
 * @adhoc: the stream's buffer
 * @lost: events not written, by reason
 * @first: position of the first record that was not forgotten
 */
struct kadhoc_cpu {
	u64 next;
	u64 *data;
	u64 mask;
	u32 cpu;
	struct kadhoc *adhoc;
	u64 lost[GKHI_N_LOST_REASONS];
	u64 first;
} ____cacheline_aligned;

/**
 * struct kadhoc - a buffer over all possible cpus
 * @cpu: the streams
 * @size: bytes of one, a power of two
 * @packet_size: bytes of the packets that readers get
 * @stream_class: enum gkhi_stream_class
 * @uuid: of the producer, for the packet headers
 * @clock: ticks; callable from NMI
 */
struct kadhoc {
	struct kadhoc_cpu __percpu *cpu;
	u32 size;
	u32 packet_size;
	u32 stream_class;
	u8 uuid[16];
	u64 (*clock)(void);
};

/**
 * struct kadhoc_cursor - a reader's place in a stream
 * @next: position of the next record to read
 * @sequence: packets made so far
 */
struct kadhoc_cursor {
	u64 next;
	u64 sequence;
};

int kadhoc_alloc(struct kadhoc *adhoc);
void kadhoc_free(struct kadhoc *adhoc);
void kadhoc_count_lost(struct kadhoc_cpu *c, enum gkhi_lost_reason reason);
bool kadhoc_readable(const struct kadhoc_cpu *c, const struct kadhoc_cursor *cursor);
int kadhoc_read_packet(struct kadhoc_cpu *c, struct kadhoc_cursor *cursor, struct gkhi_packet *packet);

/**
 * kadhoc_reserve - take the next slot
 * @c: this cpu's stream
 * @position: out: for kadhoc_commit()
 * @time: out: the record's time
 * @clock: c->adhoc->clock, for the compiler to inline
 *
 * Context: any, preemption off; kadhoc_commit() follows before the context ends.
 * Return: where the record goes, at most KADHOC_RECORD_WORDS words; the caller
 * has looked (kadhoc_count_lost()).
 */
static __always_inline u64 *kadhoc_reserve(struct kadhoc_cpu *c, u64 *position, u64 *time, u64 (*clock)(void))
{
	u64 old = READ_ONCE(c->next), *slot;
	bool ok;

	do {
		*time = clock();
		/* this cpu only: no lock prefix; atomic against its interrupts and NMIs */
		asm volatile("cmpxchgq %[new],%[next]"
			     : "=@ccz"(ok), [next] "+m"(c->next), "+a"(old)
			     : [new] "r"(old + 1) : "memory");
	} while (unlikely(!ok));
	*position = old;
	slot = c->data + (old & c->mask) * KADHOC_SLOT_WORDS;
	WRITE_ONCE(slot[0], 0);
	barrier();
	return slot + 1;
}

/**
 * kadhoc_commit - the record is whole
 * @record: from kadhoc_reserve()
 * @position: from kadhoc_reserve()
 * @words: of the record, header included
 * @time: of the record: its header may have 48 bits of it only
 */
static __always_inline void kadhoc_commit(u64 *record, u64 position, u32 words, u64 time)
{
	u64 stamp = time >> GKHI_TIME_BITS << 48 | ((position + 1) & KADHOC_POSITION_MASK) << 8 | words;

	smp_store_release(&record[-1], stamp);
}

#endif
