// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * dispatch.c - the slow path of every stub and detour: hand one event to whatever
 * its hook is routed to.
 *
 *   call             context                  may run against
 *   gkhi_dispatch    any, signal handlers     itself, every switch
 *   gkhi_faulted     any, signal handlers     itself, every switch
 *
 * An event goes where the epoch says at one load of it, inside a read section: so
 * the set that a batch switches changes at one instant, and whatever a route named
 * is closed only when nobody can be on the way to it (switch.c has the protocol).
 *
 * Compiled without vector registers; calls nothing of libc. What is not fit for
 * that (handlers, text backends) is called behind the recursion guard by a
 * trampoline that saves them.
 */
#include "internal.h"

uint32_t gkhi_epoch;

static void gkhi_count_lost(struct gkhi_hook_entry *e, enum gkhi_lost_reason reason)
{
	uint64_t *counters = PORT_READ_ONCE(e->counters);

	PORT_ADD(counters[1], 1);
	PORT_ADD(e->lost[reason], 1);
}

struct gkhi_foreign {
	const struct gkhi_exit_slot *slot;
	const struct gkhi_payload *payload;
	int result;
};

static void gkhi_foreign_call(void *a, void *b)
{
	struct gkhi_foreign *call = a;
	const struct gkhi_exit_slot *slot = call->slot;

	(void)b;
	if (slot->channel)
		call->result = slot->channel->backend->write(slot->channel, call->payload);
	else
		call->result = slot->handler(slot->context, call->payload->event, call->payload->frame);
}

/* 0 or GKHI_CONTINUE, what the callee says, or -EDEADLK when this thread is in such a call already. */
static int gkhi_foreign(struct gkhi_hook_entry *e, const struct gkhi_exit_slot *slot, const struct gkhi_payload *p)
{
	struct gkhi_foreign call;

	if (!port_guard_enter()) {
		gkhi_count_lost(e, GKHI_LOST_RECURSION);
		return -EDEADLK;
	}
	call.slot = slot;
	call.payload = p;
	call.result = 0;
	port_call_saving_vectors(gkhi_foreign_call, &call, NULL);
	port_guard_leave();
	return call.result;
}

/* True: no hit to count, since the channel keeps the hook's hits and losses itself, or it was lost. */
static bool gkhi_to_channel(struct gkhi_hook_entry *e, const struct gkhi_exit_slot *slot, const struct gkhi_payload *p)
{
	uint32_t flags = slot->channel->backend->flags;
	int err;

	if (!(flags & (GKHI_BACKEND_FOREIGN | GKHI_BACKEND_UNCOUNTED))) {
		slot->channel->backend->write(slot->channel, p);
		return true;
	}
	err = flags & GKHI_BACKEND_FOREIGN ? gkhi_foreign(e, slot, p) : slot->channel->backend->write(slot->channel, p);
	if (err && err != -EDEADLK) {
		uint64_t *counters = PORT_READ_ONCE(e->counters);

		PORT_ADD(counters[1], 1);
	}
	return err && flags & GKHI_BACKEND_UNCOUNTED;
}

static void gkhi_count_hit(struct gkhi_hook_entry *e)
{
	uint64_t *counters = PORT_READ_ONCE(e->counters);

	PORT_ADD(counters[0], 1);
}

static void gkhi_to_list(struct gkhi_hook_entry *e, const struct gkhi_exit_list *list, const struct gkhi_payload *p)
{
	bool counted = false;
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		const struct gkhi_exit_slot *slot = &list->slot[i];

		if (slot->channel) {
			counted |= gkhi_to_channel(e, slot, p);
		} else if (gkhi_foreign(e, slot, p) == GKHI_TERMINATE) {
			PORT_ADD(e->suppressed, 1);
			break;
		}
	}
	if (!counted)
		gkhi_count_hit(e);
}

static struct gkhi_route *gkhi_route_now(struct gkhi_hook_entry *e)
{
	if (PORT_LOAD_ACQUIRE(gkhi_epoch))
		return PORT_LOAD_ACQUIRE(e->next_route);
	return PORT_LOAD_ACQUIRE(e->route);
}

static void gkhi_deliver(struct gkhi_hook_entry *e, const struct gkhi_route *route, const uint64_t *frame)
{
	struct gkhi_exit_slot only;
	struct gkhi_payload p;

	if (route == &gkhi_route_off)
		return;
	if (route == &gkhi_route_nowhere) {
		gkhi_count_lost(e, GKHI_LOST_NO_ROUTE);
		return;
	}
	p.event = e->event;
	p.id = e->id;
	p.frame = frame;
	if (route->exits) {
		gkhi_to_list(e, route->exits, &p);
		return;
	}
	only.channel = route->channel;
	only.handler = NULL;
	only.context = NULL;
	if (!gkhi_to_channel(e, &only, &p))
		gkhi_count_hit(e);
}

void gkhi_dispatch(struct gkhi_hook *hook, const uint64_t *frame)
{
	struct gkhi_hook_entry *e = PORT_LOAD_ACQUIRE(hook->priv);
	unsigned int index;

	if (!e)
		return;
	if (PORT_READ_ONCE(port_orphan))
		port_adopt();
	index = port_read_lock();
	gkhi_deliver(e, gkhi_route_now(e), frame);
	port_read_unlock(index);
}

void gkhi_faulted(struct gkhi_hook *hook, uint64_t n)
{
	struct gkhi_hook_entry *e = PORT_LOAD_ACQUIRE(hook->priv);

	if (e)
		port_hook_faulted(PORT_READ_ONCE(e->slot), n);
}
