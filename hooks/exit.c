// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * exit.c - handlers of a hook's users: registered, armed (alone or as a group, at
 * one instant), put in order, and taken away when nobody runs in them any more.
 *
 *   call               context                          may run against
 *   gkhi_exit_*        T; takes the control lock        dispatch
 *   gkhi_exits_*       control lock held                dispatch
 *
 * Dispatch never looks at a struct gkhi_exit: arming builds a new list (route.c),
 * and the switch (switch.c) exchanges lists by its epoch.
 */
#include "internal.h"

/* struct gkhi_exit - in the list of its entry, oldest first. */
struct gkhi_exit {
	struct gkhi_exit *next;
	struct gkhi_hook_entry *entry;
	gkhi_exit_fn handler;
	void *context;
	const struct gkhi_module *owner;
	uint32_t order;
	uint32_t group;
	bool armed;
	bool changing;			/* armed or disarmed by the call at work */
};

/* ------------------------------------------------------------------- in order */

static uint32_t gkhi_exits_of(const struct gkhi_hook_entry *e, uint32_t order)
{
	const struct gkhi_exit *x;
	uint32_t n = 0;

	for (x = e->exits; x; x = x->next)
		n += x->armed && x->order == order;
	return n;
}

static uint32_t gkhi_exits_armed(const struct gkhi_hook_entry *e)
{
	const struct gkhi_exit *x;
	uint32_t n = 0;

	for (x = e->exits; x; x = x->next)
		n += x->armed;
	return n;
}

uint32_t gkhi_exits_slots(const struct gkhi_hook_entry *e, uint32_t n)
{
	uint32_t armed = gkhi_exits_armed(e);

	if (!armed)
		return 0;
	return gkhi_exits_of(e, GKHI_EXIT_EXCLUSIVE) ? armed : armed + n;
}

/* Append the armed exits of one order, oldest first. */
static uint32_t gkhi_exits_add(const struct gkhi_hook_entry *e, uint32_t order, struct gkhi_exit_slot *slot)
{
	const struct gkhi_exit *x;
	uint32_t n = 0;

	for (x = e->exits; x; x = x->next) {
		if (!x->armed || x->order != order)
			continue;
		slot[n].handler = x->handler;
		slot[n].context = x->context;
		slot[n].channel = NULL;
		n++;
	}
	return n;
}

static void gkhi_slots_reverse(struct gkhi_exit_slot *slot, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n / 2; i++) {
		struct gkhi_exit_slot other = slot[i];

		slot[i] = slot[n - 1 - i];
		slot[n - 1 - i] = other;
	}
}

void gkhi_exits_fill(const struct gkhi_hook_entry *e, struct gkhi_channel *const *channel, uint32_t n,
		     struct gkhi_exit_slot *slot)
{
	uint32_t i, lifo;

	slot += gkhi_exits_add(e, GKHI_EXIT_FIRST, slot);
	lifo = gkhi_exits_add(e, GKHI_EXIT_LIFO, slot);
	gkhi_slots_reverse(slot, lifo);
	slot += lifo;
	slot += gkhi_exits_add(e, GKHI_EXIT_FIFO, slot);
	if (gkhi_exits_add(e, GKHI_EXIT_EXCLUSIVE, slot))
		return;
	for (i = 0; i < n; i++, slot++)
		slot->channel = channel[i];
	gkhi_exits_add(e, GKHI_EXIT_LAST, slot);
}

/* ---------------------------------------------------------------- arm, disarm */

static bool gkhi_exits_fit(const struct gkhi_hook_entry *e)
{
	if (gkhi_exits_of(e, GKHI_EXIT_EXCLUSIVE))
		return gkhi_exits_armed(e) == 1;
	return gkhi_exits_of(e, GKHI_EXIT_FIRST) <= 1 && gkhi_exits_of(e, GKHI_EXIT_LAST) <= 1;
}

/* Do it to one exit, or (one NULL) to a group or to those of an owner. */
struct gkhi_exit_change {
	struct gkhi_exit *one;
	uint32_t group;
	const struct gkhi_module *owner;
	bool arm;
};

static bool gkhi_exit_meant(const struct gkhi_exit *x, const struct gkhi_exit_change *c)
{
	if (c->one)
		return x == c->one;
	if (c->owner)
		return x->owner == c->owner;
	return x->group == c->group;
}

/* Mark the exits that change; how many were meant. */
static uint32_t gkhi_exits_mark(const struct gkhi_exit_change *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_exit *x;

		for (x = gkhi_core.entry[i]->exits; x; x = x->next) {
			if (!gkhi_exit_meant(x, c))
				continue;
			n++;
			x->changing = x->armed != c->arm;
			x->armed = c->arm;
		}
	}
	return n;
}

static void gkhi_exits_unmark(bool undo)
{
	uint32_t i;

	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_exit *x;

		for (x = gkhi_core.entry[i]->exits; x; x = x->next) {
			if (x->changing && undo)
				x->armed = !x->armed;
			x->changing = false;
		}
	}
}

static bool gkhi_exits_changing(const struct gkhi_hook_entry *e)
{
	const struct gkhi_exit *x;

	for (x = e->exits; x; x = x->next) {
		if (x->changing)
			return true;
	}
	return false;
}

/* Into the plan with every hook that is on and gets another list. */
static int gkhi_exits_plan(void)
{
	uint32_t i;
	int err = gkhi_plan_reserve(gkhi_core.n_entries);

	for (i = 0; !err && i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = gkhi_core.entry[i];

		if (!gkhi_exits_changing(e))
			continue;
		if (!gkhi_exits_fit(e))
			err = -EBUSY;
		else if (e->state != GKHI_DISABLED)
			gkhi_plan(e);
	}
	return err ? err : gkhi_plan_prepare();
}

static int gkhi_exits_change(const struct gkhi_exit_change *c)
{
	int err;

	if (!gkhi_exits_mark(c))
		return -ENOENT;
	err = gkhi_exits_plan();
	if (err) {
		gkhi_plan_forget();
		gkhi_exits_unmark(true);
		return err;
	}
	err = gkhi_plan_commit();
	gkhi_exits_unmark(false);
	return err;
}

static int gkhi_exits_change_locked(const struct gkhi_exit_change *c)
{
	int err;

	if (port_read_held())
		return -EDEADLK;
	port_control_lock();
	err = gkhi_exits_change(c);
	port_control_unlock();
	return err;
}

int gkhi_exit_arm(struct gkhi_exit *exit)
{
	struct gkhi_exit_change c = { .one = exit, .arm = true };

	return gkhi_exits_change_locked(&c);
}

int gkhi_exit_arm_group(uint32_t group)
{
	struct gkhi_exit_change c = { .group = group, .arm = true };

	return group ? gkhi_exits_change_locked(&c) : -EINVAL;
}

int gkhi_exit_disarm(struct gkhi_exit *exit)
{
	struct gkhi_exit_change c = { .one = exit };

	return gkhi_exits_change_locked(&c);
}

int gkhi_exit_disarm_group(uint32_t group)
{
	struct gkhi_exit_change c = { .group = group };

	return group ? gkhi_exits_change_locked(&c) : -EINVAL;
}

/* --------------------------------------------------------- register, unregister */

static int gkhi_exit_entry(const struct gkhi_exit_spec *spec, struct gkhi_hook_entry **entry)
{
	size_t len = strlen(spec->hook);
	uint32_t i;

	*entry = NULL;
	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = gkhi_core.entry[i];

		if (e->name_len != len || memcmp(e->name, spec->hook, len))
			continue;
		if (spec->layout && e->layout != spec->layout)
			continue;
		if (*entry)
			return -EINVAL;
		*entry = e;
	}
	return *entry ? 0 : -ENOENT;
}

static int gkhi_exit_register_locked(const struct gkhi_exit_spec *spec, struct gkhi_exit **exit)
{
	struct gkhi_hook_entry *entry;
	struct gkhi_exit **at, *x;
	const char *why = NULL;
	int err = port_start(&why);

	if (!err)
		err = gkhi_exit_entry(spec, &entry);
	if (err)
		return err;
	x = port_alloc(sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->entry = entry;
	x->handler = spec->handler;
	x->context = spec->context;
	x->owner = spec->owner;
	x->order = spec->order;
	x->group = spec->group;
	for (at = &entry->exits; *at; at = &(*at)->next)
		;
	*at = x;
	*exit = x;
	return 0;
}

int gkhi_exit_register(const struct gkhi_exit_spec *spec, struct gkhi_exit **exit)
{
	int err;

	if (!spec->hook || !spec->handler || spec->order > GKHI_EXIT_EXCLUSIVE)
		return -EINVAL;
	if (port_read_held())
		return -EDEADLK;
	port_control_lock();
	err = gkhi_exit_register_locked(spec, exit);
	port_control_unlock();
	return err;
}

static void gkhi_exit_forget(struct gkhi_exit *exit)
{
	struct gkhi_exit **at = &exit->entry->exits;

	while (*at != exit)
		at = &(*at)->next;
	*at = exit->next;
	port_free(exit, sizeof(*exit));
}

int gkhi_exit_unregister(struct gkhi_exit *exit)
{
	struct gkhi_exit_change c = { .one = exit };
	int err;

	if (port_read_held())
		return -EDEADLK;
	port_control_lock();
	err = gkhi_exits_change(&c);
	if (!err || err == -ETIMEDOUT)
		gkhi_exit_forget(exit);
	port_control_unlock();
	return err;
}

static enum gkhi_exit_result gkhi_exit_gone(void *context, const struct gkhi_event *event, const uint64_t *frame)
{
	(void)context;
	(void)event;
	(void)frame;
	return GKHI_CONTINUE;
}

/* No memory for lists without them: in those that there are, the owner's handlers become one that does nothing. */
static void gkhi_exits_silence(const struct gkhi_module *owner)
{
	uint32_t i, j;

	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = gkhi_core.entry[i];
		const struct gkhi_exit *x;

		for (x = e->own_list ? e->exits : NULL; x; x = x->next) {
			struct gkhi_exit_list *list = (struct gkhi_exit_list *)e->route->exits;

			for (j = 0; x->owner == owner && j < list->n; j++) {
				if (list->slot[j].handler == x->handler && list->slot[j].context == x->context)
					PORT_STORE_RELEASE(list->slot[j].handler, gkhi_exit_gone);
			}
		}
	}
	port_synchronize();
}

void gkhi_exits_drop_owner(const struct gkhi_module *owner)
{
	struct gkhi_exit_change c = { .owner = owner };
	uint32_t i;
	int err = gkhi_exits_change(&c);

	if (err == -ENOENT)
		return;
	if (err && err != -ETIMEDOUT)
		gkhi_exits_silence(owner);
	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_exit *x = gkhi_core.entry[i]->exits;

		while (x) {
			struct gkhi_exit *next = x->next;

			if (x->owner == owner)
				gkhi_exit_forget(x);
			x = next;
		}
	}
}
