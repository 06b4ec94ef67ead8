// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * forked.c - the child of a fork has its parent's hooks, states and code, and must
 * not write to its parent's channels.
 *
 *   call                context                                   may run against
 *   gkhi_core_forked    control lock held; the only thread        what its own handler
 *                                                                 interrupted
 */
#include "internal.h"

static void gkhi_entry_to_nowhere(struct gkhi_hook_entry *e)
{
	const struct gkhi_hook_ref *ref;

	PORT_STORE_RELEASE(e->next_route, &gkhi_route_nowhere);
	PORT_STORE_RELEASE(e->route, &gkhi_route_nowhere);
	for (ref = e->hooks; ref; ref = ref->next)
		PORT_STORE_RELEASE(ref->hook->route, &gkhi_route_nowhere);
	e->own_list = false;	/* what it was is the parent's, and stays in this copy of its memory */
	e->why = GKHI_WHY_NO_CHANNEL;
	e->declared = 0;
}

/* What was counted so far, and the row that shows it, are the parent's. */
static void gkhi_entry_anew(struct gkhi_hook_entry *e)
{
	PORT_WRITE_ONCE(e->own_counters[0], 0);
	PORT_WRITE_ONCE(e->own_counters[1], 0);
	memset(e->lost, 0, sizeof(e->lost));
	e->suppressed = 0;
	e->slot = 0;
}

/* From the parent's channels. When fork() was called by a handler that interrupted a slow path, that path goes on. */
static void gkhi_leave_channels(void)
{
	bool interrupted = port_read_held();
	struct gkhi_routing *r;
	struct gkhi_channel *ch;
	uint32_t i;

	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = gkhi_core.entry[i];

		e->declared = 0;
		if (e->effective != GKHI_DISABLED)
			gkhi_entry_to_nowhere(e);
	}
	for (r = gkhi_core.routings; r; r = r->next) {
		if (r->n > 1 && !interrupted)
			gkhi_list_route_free(r->route);
		r->route = NULL;
	}
	for (ch = gkhi_core.channels; ch; ch = ch->next) {
		if (interrupted)
			gkhi_channel_abandon(ch);
		else
			gkhi_channel_stop(ch);
	}
}

static int gkhi_reopen_channels(void)
{
	struct gkhi_channel *ch;
	uint32_t i;
	int first = 0, err;

	for (ch = gkhi_core.channels; ch; ch = ch->next) {
		err = gkhi_channel_start(ch);
		if (!first)
			first = err;
	}
	err = gkhi_plan_reserve(gkhi_core.n_entries);
	if (err)
		return err;
	for (i = 0; i < gkhi_core.n_entries; i++) {
		if (gkhi_core.entry[i]->state != GKHI_DISABLED)
			gkhi_plan(gkhi_core.entry[i]);
	}
	err = gkhi_plan_prepare();
	if (err)
		gkhi_plan_forget();
	else
		gkhi_plan_commit();
	return first ? first : err;
}

int gkhi_core_forked(bool reopen)
{
	uint32_t i;

	gkhi_leave_channels();
	if (reopen)
		return gkhi_reopen_channels();
	for (i = 0; i < gkhi_core.n_entries; i++)
		gkhi_entry_anew(gkhi_core.entry[i]);
	return 0;
}
