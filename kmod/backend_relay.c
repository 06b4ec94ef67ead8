// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend_relay.c - gkhi_relay.ko: channels over kernel/relay.c (mode managed) and
 * over a bare circular buffer (mode adhoc).
 *
 *   call                         context                        may run against
 *   stubs, write                 any up to NMI, preemption off  everything
 *   reserve, commit              any up to NMI; preemption is   everything
 *                                off from one to the other,
 *                                managed: interrupts too
 *   the rest                     task, control lock held        writers, readers
 */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "backend_relay.h"
#include "compat.h"
#include "gkhi_kernel.h"
#include "record.h"

/* Of gkhi_route.priv[], beside GKHI_ROUTE_KIND: the transport, one of them NULL. */
#define RELAY_MANAGED_OF_ROUTE	1
#define RELAY_ADHOC_OF_ROUTE	2

static struct gkhi_kernel_backend relay_backend;

static struct relay_channel *relay_of(const struct gkhi_channel *ch)
{
	return ch->priv[0];
}

/* ------------------------------------------------------------------------ stubs */

static __always_inline void relay_fill(u64 *to, const struct gkhi_hook *hook, const u64 *frame, u64 time)
{
	u32 i;

	to[0] = time << GKHI_ID_BITS | hook->header;
	for (i = 0; i < hook->fixed_words; i++)
		to[1 + i] = frame[i];
}

/*
 * An event that is its fixed part alone, in a compact stream: only such channels'
 * routes have the backend's mark, and the transport that the stub is for.
 */
static notrace void relay_stub_managed(struct gkhi_hook *hook, const u64 *frame)
{
	const struct gkhi_route *route = READ_ONCE(hook->route);
	struct krelay *relay = route->priv[RELAY_MANAGED_OF_ROUTE];
	struct krelay_cpu *c;
	unsigned long flags;
	u64 time, *to;

	if (unlikely(route->priv[GKHI_ROUTE_KIND] != &relay_backend || !relay)) {
		gkhi_dispatch(hook, frame);
		return;
	}
	raw_local_irq_save(flags);
	c = this_cpu_ptr(relay->cpu);
	to = krelay_begin(c, 1 + hook->fixed_words, &time, gkhi_clock);
	if (to) {
		relay_fill(to, hook, frame, time);
		krelay_end(c);
	}
	raw_local_irq_restore(flags);
	if (likely(to))
		gkhi_count_hit(hook);
	else
		gkhi_count_lost(hook);
}

static notrace void relay_stub_adhoc(struct gkhi_hook *hook, const u64 *frame)
{
	const struct gkhi_route *route = READ_ONCE(hook->route);
	struct kadhoc *adhoc = route->priv[RELAY_ADHOC_OF_ROUTE];
	u64 time, position, *to;

	if (unlikely(route->priv[GKHI_ROUTE_KIND] != &relay_backend || !adhoc)) {
		gkhi_dispatch(hook, frame);
		return;
	}
	to = kadhoc_reserve(this_cpu_ptr(adhoc->cpu), &position, &time, gkhi_clock);
	relay_fill(to, hook, frame, time);
	kadhoc_commit(to, position, 1 + hook->fixed_words, time);
	gkhi_count_hit(hook);
}

static gkhi_stub_fn relay_choose_stub(const struct gkhi_event *event, const struct gkhi_route *route)
{
	if (event->n_tails)
		return NULL;
	if (route->priv[RELAY_MANAGED_OF_ROUTE])
		return relay_stub_managed;
	return 1 + event->fixed_words <= KADHOC_RECORD_WORDS ? relay_stub_adhoc : NULL;
}

/* ------------------------------------------------------------------- any event */

static notrace int relay_write_managed(struct relay_channel *rc, const struct krecord *r,
				       const struct gkhi_payload *payload)
{
	struct krelay_cpu *c;
	unsigned long flags;
	u64 time, *to;

	raw_local_irq_save(flags);
	c = this_cpu_ptr(rc->managed.cpu);
	to = krelay_begin(c, r->words, &time, gkhi_clock);
	if (to) {
		krecord_put(to, r, rc->stream_class, time, payload);
		krelay_end(c);
	}
	raw_local_irq_restore(flags);
	return to ? 0 : -ENOBUFS;
}

static notrace int relay_write_adhoc(struct relay_channel *rc, const struct krecord *r,
				     const struct gkhi_payload *payload)
{
	struct kadhoc_cpu *c = this_cpu_ptr(rc->adhoc.cpu);
	u64 time, position, *to;

	if (r->words > KADHOC_RECORD_WORDS) {
		kadhoc_count_lost(c, GKHI_LOST_TOO_BIG);
		return -E2BIG;
	}
	to = kadhoc_reserve(c, &position, &time, gkhi_clock);
	krecord_put(to, r, rc->stream_class, time, payload);
	kadhoc_commit(to, position, r->words, time);
	return 0;
}

static notrace int relay_write_event(struct gkhi_channel *ch, const struct gkhi_payload *payload)
{
	struct relay_channel *rc = relay_of(ch);
	struct krecord r;

	krecord_measure(&r, rc->stream_class, payload);
	return rc->mode == RELAY_MANAGED ? relay_write_managed(rc, &r, payload) : relay_write_adhoc(rc, &r, payload);
}

static notrace u64 *relay_reserve_adhoc(struct relay_channel *rc, struct relay_open_record *open, u32 words)
{
	struct kadhoc_cpu *c = this_cpu_ptr(rc->adhoc.cpu);

	if (words > KADHOC_RECORD_WORDS) {
		kadhoc_count_lost(c, GKHI_LOST_TOO_BIG);
		return NULL;
	}
	return kadhoc_reserve(c, &open->position, &open->time, gkhi_clock);
}

static notrace void *relay_reserve_client(struct gkhi_channel *ch, u32 id, u32 words)
{
	struct relay_channel *rc = relay_of(ch);
	u32 header = krecord_header_words(rc->stream_class);
	int context = interrupt_context_level();
	struct relay_open_record *open;
	unsigned long flags = 0;
	u64 *to;

	preempt_disable_notrace();
	if (rc->mode == RELAY_MANAGED)
		raw_local_irq_save(flags);
	open = &this_cpu_ptr(rc->open)->context[context];
	if (rc->mode == RELAY_MANAGED)
		to = krelay_begin(this_cpu_ptr(rc->managed.cpu), header + words, &open->time, gkhi_clock);
	else
		to = relay_reserve_adhoc(rc, open, header + words);
	if (!to) {
		if (rc->mode == RELAY_MANAGED)
			raw_local_irq_restore(flags);
		preempt_enable_notrace();
		return NULL;
	}
	open->flags = flags;
	open->words = header + words;
	krecord_header(to, rc->stream_class, open->time, id);
	return to + header;
}

static notrace void relay_commit_client(struct gkhi_channel *ch, void *reservation)
{
	struct relay_channel *rc = relay_of(ch);
	struct relay_open_record *open = &this_cpu_ptr(rc->open)->context[interrupt_context_level()];

	if (rc->mode == RELAY_MANAGED) {
		unsigned long flags = open->flags;

		krelay_end(this_cpu_ptr(rc->managed.cpu));
		raw_local_irq_restore(flags);
	} else {
		kadhoc_commit((u64 *)reservation - krecord_header_words(rc->stream_class), open->position,
			      open->words, open->time);
	}
	preempt_enable_notrace();
}

/* ---------------------------------------------------------------------- control */

static int relay_make_managed(struct relay_channel *rc, const struct gkhi_channel_config *config)
{
	struct krelay *relay = &rc->managed;

	relay->n_subbufs = config->n_subbufs;
	relay->subbuf_size = config->subbuf_size;
	relay->stream_class = config->stream_class;
	relay->clock = gkhi_clock;
	memcpy(relay->uuid, gkhi_uuid, sizeof(relay->uuid));
	return krelay_alloc(relay);
}

static int relay_make_adhoc(struct relay_channel *rc, const struct gkhi_channel_config *config)
{
	struct kadhoc *adhoc = &rc->adhoc;
	u64 size = (u64)config->n_subbufs * config->subbuf_size;

	/* a reader needs the time of every record to make packets */
	if (config->stream_class == GKHI_STREAM_NOCLOCK || size > GKHI_RING_DATA_MAX / 2)
		return -EINVAL;
	adhoc->size = size;
	adhoc->packet_size = config->subbuf_size;
	adhoc->stream_class = config->stream_class;
	adhoc->clock = gkhi_clock;
	memcpy(adhoc->uuid, gkhi_uuid, sizeof(adhoc->uuid));
	return kadhoc_alloc(adhoc);
}

static int relay_make(struct relay_channel *rc, const struct gkhi_channel_config *config)
{
	if (config->mode > RELAY_ADHOC || config->stream_class >= GKHI_N_STREAM_CLASSES ||
	    config->subbuf_size > GKHI_SUBBUF_MAX)
		return -EINVAL;
	rc->mode = config->mode;
	rc->stream_class = config->stream_class;
	rc->open = alloc_percpu(struct relay_open_records);
	if (!rc->open)
		return -ENOMEM;
	return rc->mode == RELAY_MANAGED ? relay_make_managed(rc, config) : relay_make_adhoc(rc, config);
}

/* Hooks that go to this channel alone may use stubs; those of other stream classes have none. */
static int relay_route(struct gkhi_channel *ch, struct relay_channel *rc)
{
	struct gkhi_route *route;

	if (rc->stream_class != GKHI_STREAM_COMPACT)
		return 0;
	route = kzalloc(sizeof(*route), GFP_KERNEL);
	if (!route)
		return -ENOMEM;
	route->channel = ch;
	route->priv[GKHI_ROUTE_KIND] = &relay_backend;
	if (rc->mode == RELAY_MANAGED)
		route->priv[RELAY_MANAGED_OF_ROUTE] = &rc->managed;
	else
		route->priv[RELAY_ADHOC_OF_ROUTE] = &rc->adhoc;
	ch->route = route;
	return 0;
}

static int relay_channel_open(struct gkhi_channel *ch)
{
	struct relay_channel *rc = kzalloc(sizeof(*rc), GFP_KERNEL);
	struct gkhi_data *data;
	int err;

	if (!rc)
		return -ENOMEM;
	err = relay_make(rc, &ch->config);
	if (!err)
		err = relay_route(ch, rc);
	if (err) {
		relay_channel_free(rc);
		return err;
	}
	data = gkhi_data_open(rc->mode == RELAY_MANAGED ? &relay_managed_ops : &relay_adhoc_ops, rc, &ch->config,
			      rc->mode == RELAY_MANAGED);
	if (IS_ERR(data)) {	/* @rc is gone */
		kfree(ch->route);
		ch->route = NULL;
		return PTR_ERR(data);
	}
	rc->data = data;
	ch->priv[0] = rc;
	return 0;
}

static void relay_channel_close(struct gkhi_channel *ch)
{
	struct relay_channel *rc = relay_of(ch);

	kfree(ch->route);
	ch->route = NULL;
	ch->priv[0] = NULL;
	gkhi_data_close(rc->data);
}

static void relay_finalize(struct gkhi_channel *ch)
{
	gkhi_data_flush(relay_of(ch)->data);
}

static void relay_forget(struct gkhi_channel *ch)
{
	gkhi_data_reset(relay_of(ch)->data);
}

static void relay_stats(struct gkhi_channel *ch, struct gkhi_channel_stats *st)
{
	gkhi_data_stats(relay_of(ch)->data, st);
}

static const struct gkhi_backend relay_ops = {
	.name = "relay",
	.open = relay_channel_open,
	.close = relay_channel_close,
	.write = relay_write_event,
	.reserve = relay_reserve_client,
	.commit = relay_commit_client,
	.finalize = relay_finalize,
	.reset = relay_forget,
	.stats = relay_stats,
};

static struct gkhi_kernel_backend relay_backend = {
	.ops = &relay_ops,
	.owner = THIS_MODULE,
	.stub = relay_choose_stub,
};

static int __init relay_init(void)
{
	return gkhi_backend_register(&relay_backend);
}

static void __exit relay_exit(void)
{
	gkhi_backend_unregister(&relay_backend);
}

module_init(relay_init);
module_exit(relay_exit);
MODULE_DESCRIPTION("gkhi: relay channels, managed and ad-hoc");
MODULE_LICENSE("GPL");
GKHI_IMPORT;
