// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * write.c - the ring's event side: everything that the fast stubs leave over.
 * Packets are opened and closed here, records of any shape are written here, and
 * threads without restartable sequences are served here.
 *
 *   call                    context               may run against
 *   gkhi_ring_write, _put   any, signal handlers  everything: itself, fast stubs,
 *                                                 readers in other processes
 *
 * Invariants
 *  W1 whatever changes a stream is prepared from one value of its commit word and
 *     carried out, with the store that replaces that very value, in one sequence
 *     on its cpu (or, on the fallback stream, under its lock). An attempt that
 *     fails leaves bytes behind the committed ones only;
 *  W2 so between the load of a commit word and its replacement nobody wrote: the
 *     clock, read after the load, is not older than any record, and a record
 *     written later is not older than this one (P2). port_load_fence() keeps the
 *     two reads in order;
 *  W3 a packet is closed by the same store that opens the next one: there always
 *     is exactly one open packet, and its header tells all that the next needs;
 *  W4 gkhi_ring_cpu.deadline is stored after the packet it belongs to is open, and
 *     is never later than that packet's: a store that was held up does no harm but
 *     to send one event this way.
 */
#include "payload.h"
#include "ring.h"

#define ATTEMPTS	16	/* then the fallback stream: a debugger may be stepping */
#define REMEASURES	4	/* of strings that change under our eyes */
#define LOCK_SPINS	128

/* Copies of a record: its header, its fixed part, a tail each, and the time. */
#define FIXED_COPIES	3

/* A record on its way: header words, and what goes where. */
struct record {
	uint32_t id;
	uint32_t words;			/* header included */
	uint32_t n_copies;
	struct port_copy *copies;
	uint64_t head[2];
	uint64_t time;
};

/* What is known of a stream at one commit word. */
struct view {
	const struct gkhi_ring *ring;
	struct gkhi_ring_cpu *rc;
	uint32_t cpu;			/* PORT_NO_CPU: the fallback stream, locked */
	uint64_t commit;
	struct gkhi_packet *packet;	/* the open one */
	uint64_t seq;
	uint64_t begin;
	uint64_t now;
};

static void count_lost(struct gkhi_ring_cpu *rc, uint32_t id, enum gkhi_lost_reason reason)
{
	uint64_t *lost = (uint64_t *)((char *)rc + GKHI_RC_LOST);

	__atomic_fetch_add(&lost[id < GKHI_RING_COUNTERS ? id : GKHI_RING_COUNTERS - 1], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rc->lost_by_reason[reason], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rc->discarded, 1, __ATOMIC_RELAXED);
}

static void count_hit(struct gkhi_ring_cpu *rc, uint32_t id)
{
	uint64_t *hits = (uint64_t *)((char *)rc + GKHI_RC_HITS);

	__atomic_fetch_add(&hits[id < GKHI_RING_COUNTERS ? id : GKHI_RING_COUNTERS - 1], 1, __ATOMIC_RELAXED);
}

static void look(struct view *v, const struct gkhi_ring *ring, uint32_t cpu)
{
	uint64_t last;

	v->ring = ring;
	v->cpu = cpu;
	v->rc = ring->cpu[cpu < ring->n_cpus ? cpu : ring->n_cpus];
	v->commit = PORT_LOAD_ACQUIRE(v->rc->commit);
	v->packet = gkhi_ring_packet(ring, v->rc, v->commit);
	v->seq = PORT_READ_ONCE(v->packet->packet_seq_num);
	v->begin = PORT_READ_ONCE(v->packet->timestamp_begin);
	last = PORT_READ_ONCE(v->rc->last_time);
	port_load_fence();
	v->now = port_clock();
	if (v->now < last)
		v->now = last;
	if (v->now < v->begin)
		v->now = v->begin;
}

/* Do @copies and replace the commit word. 0, -EAGAIN or -EFAULT. */
static int publish(const struct view *v, uint64_t next, const struct port_copy *copies, uint32_t n)
{
	struct port_sequence s = {
		.commit = &v->rc->commit,
		.expected = v->commit,
		.next = next,
		.stamp = &v->packet->packet_seq_num,
		.stamped = v->seq,
		.copies = copies,
		.n_copies = n,
		.cpu = v->cpu,
	};
	int err;

	if (v->cpu != PORT_NO_CPU)
		return port_sequence_run(&s);
	err = port_copy_run(copies, n);
	if (!err)
		PORT_STORE_RELEASE(v->rc->commit, next);
	return err;
}

void gkhi_ring_fill_packet(const struct gkhi_ring *ring, const struct gkhi_ring_cpu *rc, uint32_t cpu,
			   struct gkhi_packet *packet)
{
	packet->magic = GKHI_CTF_MAGIC;
	for (unsigned int i = 0; i < sizeof(packet->uuid); i++)
		packet->uuid[i] = ring->file->uuid[i];
	packet->stream_id = ring->stream_class;
	packet->timestamp_end = packet->timestamp_begin;
	packet->content_size = 8ull * GKHI_PACKET_HEADER;
	packet->packet_size = 8ull * ring->subbuf_size;
	packet->events_discarded = PORT_READ_ONCE(rc->discarded);
	packet->cpu_id = cpu;
	packet->pid = port_pid();
	packet->generation = 0;
	packet->reserved = 0;
}

static uint32_t deadline_of(uint64_t begin)
{
	return (uint32_t)((begin + GKHI_PACKET_MAX_TICKS) >> 32);
}

static uint32_t used_bytes(const struct view *v)
{
	return (gkhi_commit_offset(v->commit) & (v->ring->subbuf_size - 1)) + 8;
}

/* Close the open packet and open the next. 0, -EAGAIN, or -ENOSPC: no free sub-buffer. */
static int next_packet(const struct view *v)
{
	const struct gkhi_ring *ring = v->ring;
	uint32_t index = (gkhi_commit_offset(v->commit) >> ring->shift) + 1;
	char *to = gkhi_ring_data(v->rc) + ((size_t)(index & (ring->n_subbufs - 1)) << ring->shift);
	uint64_t last_tick = v->begin + GKHI_PACKET_MAX_TICKS - 1;
	struct {
		uint64_t timestamp_end;
		uint64_t content_size;
	} closing = { v->now < last_tick ? v->now : last_tick, 8ull * used_bytes(v) };
	struct gkhi_packet open = {
		.timestamp_begin = v->now,
		.packet_seq_num = v->seq + 1,
		.count_begin = PORT_READ_ONCE(v->packet->count_begin) + gkhi_commit_count(v->commit),
	};
	struct port_copy copies[] = {
		{ &v->packet->timestamp_end, &closing, sizeof(closing), PORT_COPY_BYTES },
		{ &v->packet->events_discarded, &open.events_discarded, 8, PORT_COPY_BYTES },
		{ to, &open, sizeof(open), PORT_COPY_BYTES },
	};
	uint64_t next = (v->seq + 1) << 56 | (uint32_t)(to - gkhi_ring_data(v->rc) + GKHI_PACKET_HEADER - 8);
	int err;

	if (ring->mode == GKHI_RING_DISCARD && v->seq + 1 - PORT_LOAD_ACQUIRE(v->rc->tail) >= ring->n_subbufs)
		return -ENOSPC;
	gkhi_ring_fill_packet(ring, v->rc, v->cpu, &open);
	err = publish(v, next, copies, 3);
	if (err)
		return err;
	PORT_WRITE_ONCE(v->rc->deadline, deadline_of(v->now));
	if (PORT_READ_ONCE(ring->file->readers)) {
		__atomic_fetch_add(&ring->file->ready, 1, __ATOMIC_RELEASE);
		port_wake_all(&ring->file->ready);
	}
	return 0;
}

/* Must the packet be closed before @words more can go in? */
static bool packet_is_over(const struct view *v, uint32_t words)
{
	if (v->ring->subbuf_size - used_bytes(v) < 8 * words)
		return true;
	if (v->ring->stream_class != GKHI_STREAM_NOCLOCK && v->now >> 32 >= deadline_of(v->begin))
		return true;
	return v->seq < PORT_READ_ONCE(v->rc->first);
}

/* Header words and addresses of @r for a record that starts behind v->commit. */
static void place(const struct view *v, struct record *r)
{
	char *to = gkhi_ring_data(v->rc) + gkhi_commit_offset(v->commit) + 8;
	struct port_copy *time = &r->copies[r->n_copies - 1];

	r->time = v->now;
	switch (v->ring->stream_class) {
	case GKHI_STREAM_COMPACT:
		r->head[0] = v->now << GKHI_ID_BITS | r->id;
		break;
	case GKHI_STREAM_WIDE:
		r->head[0] = v->now;
		r->head[1] = (uint64_t)port_sequence_tid() << 32 | r->id;
		break;
	default:
		r->head[0] = r->id;
	}
	for (struct port_copy *c = r->copies; c < time; c++) {
		c->to = to;
		to += (c->bytes + (c->kind == PORT_COPY_STRING ? 8 : 7)) & ~7u;
	}
	time->to = &v->rc->last_time;
}

/* Write @r into the stream of @cpu. 0, -EAGAIN, -EFAULT or -ENOSPC. */
static int attempt(const struct gkhi_ring *ring, uint32_t cpu, struct record *r)
{
	struct view v;
	int err;

	look(&v, ring, cpu);
	if (packet_is_over(&v, r->words)) {
		err = next_packet(&v);
		return err ? err : -EAGAIN;
	}
	place(&v, r);
	err = publish(&v, v.commit + gkhi_commit_step(r->words), r->copies, r->n_copies);
	if (err)
		return err;
	if (PORT_READ_ONCE(v.rc->deadline) != deadline_of(v.begin))
		PORT_WRITE_ONCE(v.rc->deadline, deadline_of(v.begin));
	count_hit(v.rc, r->id);
	return 0;
}

/*
 * The fallback stream's lock is only ever tried: a signal handler may have
 * interrupted its owner. An owner that was killed left a whole stream behind (W1),
 * so its lock is simply taken over.
 */
static bool lock_fallback(struct gkhi_ring_cpu *rc, uint32_t tid)
{
	uint32_t owner = 0;

	for (int i = 0; i < LOCK_SPINS; i++) {
		owner = 0;
		if (__atomic_compare_exchange_n(&rc->lock, &owner, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (owner == tid)
			return false;
		__builtin_ia32_pause();
	}
	return !port_thread_exists(owner) &&
	       __atomic_compare_exchange_n(&rc->lock, &owner, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static int write_fallback(const struct gkhi_ring *ring, struct record *r)
{
	struct gkhi_ring_cpu *rc = ring->cpu[ring->n_cpus];
	int err;

	if (!lock_fallback(rc, port_sequence_tid()))
		return -EBUSY;
	do
		err = attempt(ring, PORT_NO_CPU, r);
	while (err == -EAGAIN);		/* a packet was opened: at most once */
	PORT_STORE_RELEASE(rc->lock, 0);
	return err;
}

/* Where and why it ended is in @cpu and the result: 0, -ENOSPC, -EBUSY, -EFAULT. */
static int write_record(const struct gkhi_ring *ring, struct record *r, uint32_t *cpu)
{
	int err;

	for (int i = 0; i < ATTEMPTS; i++) {
		*cpu = port_sequence_cpu();
		if (*cpu >= ring->n_cpus)
			break;
		err = attempt(ring, *cpu, r);
		if (err != -EAGAIN)
			return err;
	}
	*cpu = PORT_NO_CPU;
	return write_fallback(ring, r);
}

static struct gkhi_ring_cpu *stream_of(const struct gkhi_ring *ring, uint32_t cpu)
{
	return ring->cpu[cpu < ring->n_cpus ? cpu : ring->n_cpus];
}

static int lost(const struct gkhi_ring *ring, uint32_t cpu, uint32_t id, int err)
{
	enum gkhi_lost_reason reason = err == -ENOSPC ? GKHI_LOST_FULL :
				       err == -EBUSY  ? GKHI_LOST_CONTENTION :
				       err == -E2BIG  ? GKHI_LOST_TOO_BIG :
							GKHI_LOST_FAULT;

	count_lost(stream_of(ring, cpu), id, reason);
	return err;
}

void gkhi_ring_lost(const struct gkhi_ring *ring, uint32_t id, enum gkhi_lost_reason reason)
{
	count_lost(stream_of(ring, port_sequence_cpu()), id, reason);
}

static bool fits(const struct gkhi_ring *ring, uint64_t words)
{
	return 8 * words <= ring->subbuf_size - GKHI_PACKET_HEADER;
}

/* Sizes of all parts; @r->copies has room for FIXED_COPIES + n_tails. */
static uint64_t measure(const struct gkhi_ring *ring, const struct gkhi_payload *p, struct record *r)
{
	const struct gkhi_event *event = p->event;
	const uint64_t *pointer = p->frame + event->fixed_words;
	uint32_t header = gkhi_stream_header_words(ring->stream_class);
	struct port_copy *c = r->copies;
	uint64_t words = header + event->fixed_words;

	*c++ = (struct port_copy){ NULL, r->head, 8 * header, PORT_COPY_BYTES };
	*c++ = (struct port_copy){ NULL, p->frame, 8u * event->fixed_words, PORT_COPY_BYTES };
	for (const struct gkhi_field *f = event->fields; f < event->fields + event->n_fields; f++) {
		struct gkhi_tail tail;

		if (!gkhi_field_is_tail(f))
			continue;
		tail = gkhi_tail_of(p, f, *pointer++);
		words += gkhi_tail_words(&tail);
		*c++ = (struct port_copy){ NULL, tail.from, tail.bytes,
					   tail.string ? PORT_COPY_STRING : PORT_COPY_BYTES };
	}
	*c++ = (struct port_copy){ NULL, &r->time, 8, PORT_COPY_BYTES };
	r->n_copies = (uint32_t)(c - r->copies);
	return words;
}

int gkhi_ring_write(struct gkhi_channel *ch, const struct gkhi_payload *payload)
{
	const struct gkhi_ring *ring = gkhi_ring_of(ch);
	struct port_copy copies[FIXED_COPIES + payload->event->n_tails];
	struct record r = { .id = payload->id, .copies = copies };
	uint32_t cpu = port_sequence_cpu();
	int err = -EFAULT;

	for (int i = 0; err == -EFAULT && i < REMEASURES; i++) {
		uint64_t words = measure(ring, payload, &r);

		if (!fits(ring, words))
			return lost(ring, cpu, r.id, -E2BIG);
		r.words = (uint32_t)words;
		err = write_record(ring, &r, &cpu);
	}
	return err ? lost(ring, cpu, r.id, err) : 0;
}

int gkhi_ring_put(const struct gkhi_ring *ring, uint32_t id, const uint64_t *payload, uint32_t words)
{
	uint32_t header = gkhi_stream_header_words(ring->stream_class), cpu = port_sequence_cpu();
	struct port_copy copies[FIXED_COPIES];
	struct record r = { .id = id, .words = header + words, .n_copies = FIXED_COPIES, .copies = copies };
	int err = -E2BIG;

	copies[0] = (struct port_copy){ NULL, r.head, 8 * header, PORT_COPY_BYTES };
	copies[1] = (struct port_copy){ NULL, payload, 8 * words, PORT_COPY_BYTES };
	copies[2] = (struct port_copy){ NULL, &r.time, 8, PORT_COPY_BYTES };
	if (fits(ring, (uint64_t)header + words))
		err = write_record(ring, &r, &cpu);
	return err ? lost(ring, cpu, id, err) : 0;
}
