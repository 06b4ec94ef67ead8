/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gkhi_kernel.h - the seam between gkhi.ko and the modules of backends.
 *
 *   call                                        context
 *   gkhi_backend_register, _unregister          task, may sleep; not inside a backend's function
 *   gkhi_device_*, gkhi_metadata_copy           task, may sleep; inside open() and close() too
 *   gkhi_dispatch, gkhi_count_*, gkhi_clock     any, preemption off
 *   the v-table's open, close, reset            control lock held, task, may sleep
 *   the v-table's finalize, stats               task, may sleep, control lock held
 *   the v-table's write, reserve, commit;       any up to NMI, preemption off
 *   stubs
 *
 * Names are exported in namespace GKHI, GPL only: include "compat.h", say
 * GKHI_IMPORT; and GKHI_EXPORT(symbol).
 *
 * How an event gets to a backend:
 *
 *   site -> static call -> stub(hook, frame) -> record          the short way
 *                                |
 *                                +-> gkhi_dispatch(hook, frame) -> v-table's write()
 *   kprobe on the pad -> hook's stub(hook, frame), as above
 *
 * A hook has the stub of its route's backend, or one that only dispatches. A stub
 * may be entered with any route, and with another one at every event, since the
 * hook's route is what batches switch. So it begins:
 *
 *	const struct gkhi_route *route = READ_ONCE(hook->route);
 *
 *	if (unlikely(route->priv[GKHI_ROUTE_KIND] != &my_backend)) {
 *		gkhi_dispatch(hook, frame);
 *		return;
 *	}
 *
 * It counts what it did: gkhi_count_hit(hook), or gkhi_count_lost(hook) beside the
 * channel's own count by reason. It is entered with preemption off and leaves with
 * it off: preemption off from loading the route to the commit is what makes
 * synchronize_rcu() the grace period after which the old channel may be closed.
 * write() counts nothing per hook: whoever called it does. Backends of the kernel
 * have GKHI_BACKEND_FOREIGN set if write() must not be entered twice in one context
 * (task, softirq, hardirq, NMI) of a cpu; what does is counted as lost (recursion).
 */
#ifndef GKHI_KMOD_KERNEL_H
#define GKHI_KMOD_KERNEL_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <asm/tsc.h>

#include <gkhi/channel.h>
#include <gkhi/channel_api.h>

typedef void (*gkhi_stub_fn)(struct gkhi_hook *hook, const u64 *frame);

/* Of struct gkhi_route's priv[], when a backend made the route: the others are its own. */
#define GKHI_ROUTE_KIND		0	/* its struct gkhi_kernel_backend */

/**
 * struct gkhi_kernel_backend - a backend in a module
 * @ops: the v-table. @ops->open need not hold @owner: gkhi.ko does from open to
 *	close. open() leaves ch->route NULL if there is no stub
 * @owner: THIS_MODULE
 * @stub: the fastest stub for @event over a route of this kind, NULL: dispatch.
 *	May be NULL
 * @core: gkhi.ko's
 * @list: gkhi.ko's
 */
struct gkhi_kernel_backend {
	const struct gkhi_backend *ops;
	struct module *owner;
	gkhi_stub_fn (*stub)(const struct gkhi_event *event, const struct gkhi_route *route);
	struct gkhi_backend core;
	struct list_head list;
};

/* 0, or -EEXIST: there is one of that name. */
int gkhi_backend_register(struct gkhi_kernel_backend *backend);

/* In the module's exit function: no channel is left, since channels hold the module. */
void gkhi_backend_unregister(struct gkhi_kernel_backend *backend);

/* The generic path (hooks/dispatch.c). */
void gkhi_dispatch(struct gkhi_hook *hook, const uint64_t *frame);

/* A hook's own counters, per cpu: sysfs hits and lost. */
static __always_inline void gkhi_count_hit(const struct gkhi_hook *hook)
{
	this_cpu_inc(hook->count->hits);
}

static __always_inline void gkhi_count_lost(const struct gkhi_hook *hook)
{
	this_cpu_inc(hook->count->lost);
}

/*
 * The producer's one clock, chosen when gkhi.ko is loaded: the TSC, or where it is
 * unstable ktime_get_mono_fast_ns(). For stubs: one per clock, chosen by ->stub().
 */
extern bool gkhi_clock_is_tsc;
u64 gkhi_clock(void);

static __always_inline u64 gkhi_clock_tsc(void)
{
	return rdtsc_ordered();
}

/* The producer's uuid, for packet headers: 16 bytes. */
extern const u8 *const gkhi_uuid;

/*
 * The metadata: blocks as docs/design.md has them, one per event id and stream
 * class, appended before the first event with that id can be written. It only
 * grows. @wait is woken when it did.
 */
struct gkhi_metadata_state {
	u64 size;		/* bytes */
	u32 generation;		/* of packet headers; number of blocks */
	wait_queue_head_t wait;
};

extern struct gkhi_metadata_state gkhi_metadata;

/* Up to @size bytes from offset @at; the number of them, 0 at the end. */
size_t gkhi_metadata_copy(void *to, size_t size, u64 at);

/*
 * gkhi_device_add - make /dev/gkhi/NAME. Its open() finds @priv in
 * file->private_data and may replace it. Removing: later opens fail, files that
 * are open already stay with the backend, whose module they hold.
 */
struct gkhi_device;
struct gkhi_device *gkhi_device_add(const char *name, umode_t mode, const struct file_operations *fops, void *priv);
void gkhi_device_remove(struct gkhi_device *device);	/* may be NULL or an ERR_PTR */

#endif
