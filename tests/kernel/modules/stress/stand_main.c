// SPDX-License-Identifier: GPL-2.0-only
/*
 * stand_main.c - a test stand for hooks: two backends that keep nothing and check
 * stress:tick. "ring" has a stub, "relay" is written to by the generic path. What
 * comes from one context of one cpu comes in order, whichever channel it takes, so
 * every number must be the last one plus one.
 *
 * Parameters, read only: seen, twice (a number that was there before), missed
 * (numbers left out), others (other events).
 */
#include <linux/module.h>
#include <linux/percpu.h>

#include "compat.h"
#include "gkhi_kernel.h"

#define CONTEXTS	3

struct stand_cpu {
	u64 last[CONTEXTS];
	u64 seen[CONTEXTS];
	u64 twice[CONTEXTS];
	u64 missed[CONTEXTS];
};

static DEFINE_PER_CPU(struct stand_cpu, stand_cpus);
static atomic64_t others;

static void stand_tick(const u64 *frame)
{
	u32 cpu = frame[1], context = frame[1] >> 32;
	struct stand_cpu *c;

	if (cpu >= nr_cpu_ids || context >= CONTEXTS)
		return;
	c = per_cpu_ptr(&stand_cpus, cpu);
	c->seen[context]++;
	if (frame[0] <= c->last[context])
		c->twice[context]++;
	else
		c->missed[context] += frame[0] - c->last[context] - 1;
	c->last[context] = frame[0];
}

static int stand_write(struct gkhi_channel *ch, const struct gkhi_payload *p)
{
	if (!strcmp(p->event->name, "tick"))
		stand_tick(p->frame);
	else
		atomic64_inc(&others);
	return 0;
}

static int stand_open(struct gkhi_channel *ch)
{
	return 0;
}

static int stand_open_with_route(struct gkhi_channel *ch)
{
	ch->route = kzalloc(sizeof(*ch->route), GFP_KERNEL);
	if (!ch->route)
		return -ENOMEM;
	ch->route->channel = ch;
	return 0;
}

static void stand_close(struct gkhi_channel *ch)
{
	kfree(ch->route);
	ch->route = NULL;
}

static void stand_stats(struct gkhi_channel *ch, struct gkhi_channel_stats *st)
{
}

static struct gkhi_kernel_backend stand_ring;

static void stand_stub(struct gkhi_hook *hook, const u64 *frame)
{
	const struct gkhi_route *route = READ_ONCE(hook->route);

	if (unlikely(route->priv[GKHI_ROUTE_KIND] != &stand_ring)) {
		gkhi_dispatch(hook, frame);
		return;
	}
	stand_tick(frame);
	gkhi_count_hit(hook);
}

static gkhi_stub_fn stand_choose(const struct gkhi_event *event, const struct gkhi_route *route)
{
	return strcmp(event->name, "tick") ? NULL : stand_stub;
}

static const struct gkhi_backend stand_ring_ops = {
	.name = "ring",
	.open = stand_open_with_route,
	.close = stand_close,
	.write = stand_write,
	.stats = stand_stats,
};

static const struct gkhi_backend stand_relay_ops = {
	.name = "relay",
	.open = stand_open,
	.close = stand_close,
	.write = stand_write,
	.stats = stand_stats,
};

static struct gkhi_kernel_backend stand_ring = {
	.ops = &stand_ring_ops,
	.owner = THIS_MODULE,
	.stub = stand_choose,
};

static struct gkhi_kernel_backend stand_relay = {
	.ops = &stand_relay_ops,
	.owner = THIS_MODULE,
};

static int sum_get(char *buf, const struct kernel_param *kp)
{
	size_t offset = (size_t)kp->arg;
	u64 sum = 0;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const u64 *of = (void *)per_cpu_ptr(&stand_cpus, cpu) + offset;

		for (i = 0; i < CONTEXTS; i++)
			sum += of[i];
	}
	return sysfs_emit(buf, "%llu\n", sum);
}

static const struct kernel_param_ops sum_ops = { .get = sum_get };
module_param_cb(seen, &sum_ops, (void *)offsetof(struct stand_cpu, seen), 0400);
module_param_cb(twice, &sum_ops, (void *)offsetof(struct stand_cpu, twice), 0400);
module_param_cb(missed, &sum_ops, (void *)offsetof(struct stand_cpu, missed), 0400);

static int others_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&others));
}

static const struct kernel_param_ops others_ops = { .get = others_get };
module_param_cb(others, &others_ops, NULL, 0400);

static int __init stand_init(void)
{
	int err = gkhi_backend_register(&stand_ring);

	if (err)
		return err;
	err = gkhi_backend_register(&stand_relay);
	if (err)
		gkhi_backend_unregister(&stand_ring);
	return err;
}

static void __exit stand_exit(void)
{
	gkhi_backend_unregister(&stand_relay);
	gkhi_backend_unregister(&stand_ring);
}

module_init(stand_init);
module_exit(stand_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Two backends that check numbered events");
GKHI_IMPORT;
