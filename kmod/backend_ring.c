// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend_ring.c - gkhi_ring.ko: channels over ring.c.
 *
 *   call                         context                        may run against
 *   stubs, write                 any up to NMI, preemption off  everything
 *   reserve, commit              any up to NMI; preemption is   everything
 *                                off from one to the other
 *   the rest                     task, control lock held        writers, readers
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "data.h"
#include "gkhi_kernel.h"
#include "record.h"
#include "ring.h"

#define RING_CONTEXTS	4	/* task, softirq, hardirq, NMI */

/* Of gkhi_route.priv[], beside GKHI_ROUTE_KIND. */
#define RING_OF_ROUTE	1

/* Words of the record that lies open between reserve and commit, per context. */
struct ring_open_records {
	u32 words[RING_CONTEXTS];
};

struct ring_channel {
	struct kring ring;
	struct gkhi_data *data;
	struct ring_open_records __percpu *open;
};

static struct gkhi_kernel_backend ring_backend;

static struct ring_channel *ring_of(const struct gkhi_channel *ch)
{
	return ch->priv[0];
}

/* ------------------------------------------------------------------------ stubs */

/*
 * An event that is its fixed part alone, in a compact stream: only such channels'
 * routes have the backend's mark.
 */
static __always_inline void ring_stub(struct gkhi_hook *hook, const u64 *frame, u32 fixed_words,
				      u64 (*clock)(void))
{
	const struct gkhi_route *route = READ_ONCE(hook->route);
	struct kring *ring;
	struct kring_cpu *c;
	u64 time, *to;
	u32 i;

	if (unlikely(route->priv[GKHI_ROUTE_KIND] != &ring_backend)) {
		gkhi_dispatch(hook, frame);
		return;
	}
	ring = route->priv[RING_OF_ROUTE];
	c = this_cpu_ptr(ring->cpu);
	to = kring_reserve(c, 1 + fixed_words, &time, clock);
	if (unlikely(!to)) {
		gkhi_count_lost(hook);
		return;
	}
	to[0] = time << GKHI_ID_BITS | hook->header;
	for (i = 0; i < fixed_words; i++)
		to[1 + i] = frame[i];
	kring_commit(c, to, 1 + fixed_words);
	gkhi_count_hit(hook);
}

#define RING_STUBS(clock)							\
	static notrace void ring_stub_0_##clock(struct gkhi_hook *hook, const u64 *frame)	\
	{									\
		ring_stub(hook, frame, 0, gkhi_##clock);			\
	}									\
	static notrace void ring_stub_1_##clock(struct gkhi_hook *hook, const u64 *frame)	\
	{									\
		ring_stub(hook, frame, 1, gkhi_##clock);			\
	}									\
	static notrace void ring_stub_2_##clock(struct gkhi_hook *hook, const u64 *frame)	\
	{									\
		ring_stub(hook, frame, 2, gkhi_##clock);			\
	}									\
	static notrace void ring_stub_3_##clock(struct gkhi_hook *hook, const u64 *frame)	\
	{									\
		ring_stub(hook, frame, 3, gkhi_##clock);			\
	}									\
	static notrace void ring_stub_n_##clock(struct gkhi_hook *hook, const u64 *frame)	\
	{									\
		ring_stub(hook, frame, hook->fixed_words, gkhi_##clock);	\
	}									\
	static const gkhi_stub_fn ring_stubs_##clock[] = {			\
		ring_stub_0_##clock, ring_stub_1_##clock, ring_stub_2_##clock, ring_stub_3_##clock,	\
		ring_stub_n_##clock,						\
	}

RING_STUBS(clock_tsc);
RING_STUBS(clock);

static gkhi_stub_fn ring_choose_stub(const struct gkhi_event *event, const struct gkhi_route *route)
{
	u32 i = min_t(u32, event->fixed_words, ARRAY_SIZE(ring_stubs_clock) - 1);

	if (event->n_tails)
		return NULL;
	return gkhi_clock_is_tsc ? ring_stubs_clock_tsc[i] : ring_stubs_clock[i];
}

/* ------------------------------------------------------------------- any event */

static notrace int ring_write(struct gkhi_channel *ch, const struct gkhi_payload *payload)
{
	struct kring *ring = &ring_of(ch)->ring;
	struct kring_cpu *c = this_cpu_ptr(ring->cpu);
	struct krecord r;
	u64 time, *to;

	krecord_measure(&r, ring->stream_class, payload);
	to = kring_reserve(c, r.words, &time, gkhi_clock);
	if (!to)
		return -ENOBUFS;
	krecord_put(to, &r, ring->stream_class, time, payload);
	kring_commit(c, to, r.words);
	return 0;
}

static notrace void *ring_reserve(struct gkhi_channel *ch, u32 id, u32 words)
{
	struct ring_channel *rc = ring_of(ch);
	u32 header = krecord_header_words(rc->ring.stream_class);
	u64 time, *to;

	preempt_disable_notrace();
	to = kring_reserve(this_cpu_ptr(rc->ring.cpu), header + words, &time, gkhi_clock);
	if (!to) {
		preempt_enable_notrace();
		return NULL;
	}
	krecord_header(to, rc->ring.stream_class, time, id);
	this_cpu_ptr(rc->open)->words[interrupt_context_level()] = header + words;
	return to + header;
}

static notrace void ring_commit(struct gkhi_channel *ch, void *reservation)
{
	struct ring_channel *rc = ring_of(ch);
	const u64 *record = (u64 *)reservation - krecord_header_words(rc->ring.stream_class);

	kring_commit(this_cpu_ptr(rc->ring.cpu), record, this_cpu_ptr(rc->open)->words[interrupt_context_level()]);
	preempt_enable_notrace();
}

/* ----------------------------------------------------------------- for its files */

static struct kring_cpu *ring_stream(void *transport, u32 cpu)
{
	return per_cpu_ptr(((struct ring_channel *)transport)->ring.cpu, cpu);
}

static void ring_begin(void *transport, u32 cpu, struct gkhi_data_cursor *cursor)
{
	cursor->next = kring_oldest(ring_stream(transport, cpu));
}

static bool ring_readable(void *transport, u32 cpu, const struct gkhi_data_cursor *cursor)
{
	return kring_readable(ring_stream(transport, cpu), cursor->next);
}

static int ring_read(void *transport, u32 cpu, struct gkhi_data_cursor *cursor, struct gkhi_packet *packet)
{
	struct kring_cpu *c = ring_stream(transport, cpu);

	if (!kring_read_packet(c, &cursor->next, packet))
		return 0;
	if (c->ring->discard)
		kring_consume(c, cursor->next);
	return 1;
}

static int ring_peek(void *transport, u32 cpu, const struct gkhi_data_cursor *cursor, u64 *offset)
{
	struct kring_cpu *c = ring_stream(transport, cpu);

	if (!kring_readable(c, cursor->next))
		return 0;
	*offset = 8 * (cursor->next & c->data_mask);
	return 1;
}

static void ring_done(void *transport, u32 cpu, struct gkhi_data_cursor *cursor)
{
	struct kring_cpu *c = ring_stream(transport, cpu);

	if (!kring_readable(c, cursor->next))
		return;
	cursor->next += c->subbuf_mask + 1;
	kring_consume(c, cursor->next);
}

static struct page *ring_page(void *transport, u32 cpu, unsigned long index)
{
	struct kring_cpu *c = ring_stream(transport, cpu);

	if (index >= (8 * ((u64)c->data_mask + 1)) >> PAGE_SHIFT)
		return NULL;
	return vmalloc_to_page((char *)c->data + (index << PAGE_SHIFT));
}

static void ring_flush(void *transport, u32 cpu)
{
	kring_flush(&((struct ring_channel *)transport)->ring, cpu);
}

static u64 ring_head(void *transport, u32 cpu)
{
	return kring_head(ring_stream(transport, cpu));
}

static void ring_forget(void *transport, u32 cpu)
{
	kring_forget(ring_stream(transport, cpu));
}

static void ring_info(void *transport, u32 cpu, struct gkhi_data_info *info)
{
	struct kring_cpu *c = ring_stream(transport, cpu);
	int i;

	info->events = kring_count(c);
	for (i = 0; i < GKHI_N_LOST_REASONS; i++)
		info->lost[i] = READ_ONCE(c->lost[i]);
}

static wait_queue_head_t *ring_readers(void *transport, u32 cpu)
{
	return &ring_stream(transport, cpu)->readers;
}

static void ring_free(void *transport)
{
	struct ring_channel *rc = transport;

	if (rc->ring.cpu)
		kring_free(&rc->ring);
	free_percpu(rc->open);
	kfree(rc);
}

static const struct gkhi_data_ops ring_data_ops = {
	.owner = THIS_MODULE,
	.begin = ring_begin,
	.readable = ring_readable,
	.read = ring_read,
	.peek = ring_peek,
	.done = ring_done,
	.page = ring_page,
	.flush = ring_flush,
	.head = ring_head,
	.reset = ring_forget,
	.info = ring_info,
	.readers = ring_readers,
	.free = ring_free,
};

/* ---------------------------------------------------------------------- control */

static int ring_make(struct ring_channel *rc, const struct gkhi_channel_config *config)
{
	if (config->n_subbufs < GKHI_N_SUBBUFS_MIN || config->subbuf_size > GKHI_SUBBUF_MAX)
		return -EINVAL;
	rc->open = alloc_percpu(struct ring_open_records);
	if (!rc->open)
		return -ENOMEM;
	rc->ring.n_subbufs = config->n_subbufs;
	rc->ring.subbuf_size = config->subbuf_size;
	rc->ring.stream_class = config->stream_class;
	rc->ring.discard = config->mode == GKHI_RING_DISCARD;
	rc->ring.clock = gkhi_clock;
	memcpy(rc->ring.uuid, gkhi_uuid, sizeof(rc->ring.uuid));
	return kring_alloc(&rc->ring);
}

/* Hooks that go to this channel alone may use stubs; those of other stream classes have none. */
static int ring_route(struct gkhi_channel *ch, struct ring_channel *rc)
{
	struct gkhi_route *route = kzalloc(sizeof(*route), GFP_KERNEL);

	if (!route)
		return -ENOMEM;
	route->channel = ch;
	route->priv[GKHI_ROUTE_KIND] = &ring_backend;
	route->priv[RING_OF_ROUTE] = &rc->ring;
	ch->route = route;
	return 0;
}

static int ring_open(struct gkhi_channel *ch)
{
	struct ring_channel *rc = kzalloc(sizeof(*rc), GFP_KERNEL);
	struct gkhi_data *data;
	int err;

	if (!rc)
		return -ENOMEM;
	err = ring_make(rc, &ch->config);
	if (!err && rc->ring.stream_class == GKHI_STREAM_COMPACT)
		err = ring_route(ch, rc);
	if (err) {
		ring_free(rc);
		return err;
	}
	data = gkhi_data_open(&ring_data_ops, rc, &ch->config, rc->ring.discard);
	if (IS_ERR(data)) {	/* @rc is gone */
		kfree(ch->route);
		ch->route = NULL;
		return PTR_ERR(data);
	}
	rc->data = data;
	ch->priv[0] = rc;
	return 0;
}

static void ring_close(struct gkhi_channel *ch)
{
	struct ring_channel *rc = ring_of(ch);

	kfree(ch->route);
	ch->route = NULL;
	ch->priv[0] = NULL;
	gkhi_data_close(rc->data);
}

static void ring_finalize(struct gkhi_channel *ch)
{
	gkhi_data_flush(ring_of(ch)->data);
}

static void ring_reset(struct gkhi_channel *ch)
{
	gkhi_data_reset(ring_of(ch)->data);
}

static void ring_stats(struct gkhi_channel *ch, struct gkhi_channel_stats *st)
{
	gkhi_data_stats(ring_of(ch)->data, st);
}

static const struct gkhi_backend ring_ops = {
	.name = "ring",
	.open = ring_open,
	.close = ring_close,
	.write = ring_write,
	.reserve = ring_reserve,
	.commit = ring_commit,
	.finalize = ring_finalize,
	.reset = ring_reset,
	.stats = ring_stats,
};

static struct gkhi_kernel_backend ring_backend = {
	.ops = &ring_ops,
	.owner = THIS_MODULE,
	.stub = ring_choose_stub,
};

static int __init ring_init(void)
{
	return gkhi_backend_register(&ring_backend);
}

static void __exit ring_exit(void)
{
	gkhi_backend_unregister(&ring_backend);
}

module_init(ring_init);
module_exit(ring_exit);
MODULE_DESCRIPTION("gkhi: per-cpu rings as channels");
MODULE_LICENSE("GPL");
GKHI_IMPORT;
