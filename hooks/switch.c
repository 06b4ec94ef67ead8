// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * switch.c - bring a set of hooks into new states and onto new routes at one
 * instant (docs/design.md, "Switching").
 *
 *   call               context              may run against
 *   gkhi_plan*         control lock held    dispatch, stubs, detours
 *
 * A commit is three steps:
 *
 *   gate    every hook of the set gets the gated route, which has no cpus: whoever
 *           loads it, stub or detour, comes to gkhi_dispatch(), which asks the
 *           epoch. Places that must jump are patched, modes set, sequences that
 *           still held an old route restarted.
 *   flip    one store of the epoch: the whole set changes.
 *   settle  the final routes go in, hooks that are off are closed, the epoch goes
 *           back, and a grace period ends what the old routes were good for.
 *
 * Invariants
 *  S1 an event takes one path: the one load of the mode decides between stub and
 *     detour, both of which stay good for ever; either loads the route once, inside
 *     its sequence, or asks the epoch once. So it is recorded once or not at all.
 *  S2 between the end of gate and the flip nobody records by an old route but those
 *     that dispatch read the epoch for before the flip.
 *  S3 entry->route is the same as entry->next_route whenever the epoch goes back,
 *     and next_route is only stored when no reader of the epoch is left.
 *  S4 mode PAD is stored only when all pads of the hook are known to jump.
 */
#include "internal.h"

struct gkhi_set gkhi_set;

/* ---------------------------------------------------------------------- the set */

int gkhi_plan_reserve(uint32_t n)
{
	struct gkhi_hook_entry **entry;

	if (n <= gkhi_set.capacity)
		return 0;
	n += n / 2;
	entry = port_alloc(n * sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	if (gkhi_set.n)
		memcpy(entry, gkhi_set.entry, gkhi_set.n * sizeof(*entry));
	port_free(gkhi_set.entry, gkhi_set.capacity * sizeof(*entry));
	gkhi_set.entry = entry;
	gkhi_set.capacity = n;
	return 0;
}

void gkhi_plan_release(void)
{
	port_free(gkhi_set.entry, gkhi_set.capacity * sizeof(*gkhi_set.entry));
	memset(&gkhi_set, 0, sizeof(gkhi_set));
	gkhi_places_release();
}

void gkhi_plan(struct gkhi_hook_entry *e)
{
	if (e->planned)
		return;
	e->planned = true;
	e->plan_state = e->state;
	e->plan_routing = e->routing;
	e->next_route = e->route;
	e->plan_list = false;
	e->trouble = false;
	gkhi_set.entry[gkhi_set.n++] = e;
}

void gkhi_plan_forget(void)
{
	uint32_t i;

	for (i = 0; i < gkhi_set.n; i++) {
		struct gkhi_hook_entry *e = gkhi_set.entry[i];

		if (e->plan_list)
			gkhi_list_route_free(e->next_route);
		e->plan_list = false;
		e->next_route = e->route;
		e->planned = false;
	}
	gkhi_set.n = 0;
}

/* --------------------------------------------------------------------- prepare */

/* The state that can be reached, as far as it is known before anything is patched. */
static enum gkhi_why gkhi_plan_obstacle(const struct gkhi_hook_entry *e)
{
	if (e->plan_state == GKHI_DISABLED)
		return GKHI_WHY_OK;
	if (!e->states)
		return GKHI_WHY_NO_EVENT;
	if (!e->id)
		return GKHI_WHY_TOO_MANY_IDS;
	if (e->plan_state == GKHI_STATIC && !(e->states & GKHI_HAS_STATIC))
		return GKHI_WHY_NO_STATIC;
	if (e->plan_state == GKHI_MARKER && !(e->states & GKHI_HAS_MARKER))
		return GKHI_WHY_NO_MARKER;
	if (e->n_keys + e->n_loads)
		return GKHI_WHY_OK;
	if (!e->n_bare)
		return GKHI_WHY_NO_SITE;
	return e->plan_state == GKHI_STATIC ? GKHI_WHY_NO_STATIC : GKHI_WHY_OK;
}

static int gkhi_declare(struct gkhi_hook_entry *e)
{
	uint32_t i;

	for (i = 0; i < e->plan_routing->n; i++) {
		const struct gkhi_channel *ch = e->plan_routing->channel[i];
		uint8_t bit = (uint8_t)(1u << ch->config.stream_class);
		int err;

		if (e->declared & bit || ch->backend->flags & GKHI_BACKEND_TEXT)
			continue;
		err = port_event_declare(e->event, e->id, ch->config.stream_class);
		if (err)
			return err;
		e->declared |= bit;
	}
	return 0;
}

/* Detours are made once and stay: nothing to undo. A pad without one tells why. */
static void gkhi_make_detours(struct gkhi_hook_entry *e)
{
	struct gkhi_site *s;

	for (s = e->sites; s; s = s->next) {
		enum gkhi_why why = GKHI_WHY_NO_DETOUR;

		if (!s->pad || s->target)
			continue;
		if (port_detour(s->record, s->hook, e->event, &s->target, &why)) {
			s->target = NULL;
			s->why = (uint8_t)why;
			e->trouble = true;
			gkhi_set.trouble = true;
		}
	}
}

static int gkhi_prepare_entry(struct gkhi_hook_entry *e)
{
	int err;

	e->plan_why = (uint8_t)gkhi_plan_obstacle(e);
	e->plan_effective = e->plan_why ? GKHI_DISABLED : e->plan_state;
	e->moves = (uint8_t)gkhi_moves((enum gkhi_state)e->effective, (enum gkhi_state)e->plan_effective, false);
	e->bare_moves = (uint8_t)gkhi_moves((enum gkhi_state)e->effective, (enum gkhi_state)e->plan_effective, true);
	gkhi_set.moves |= e->moves | e->bare_moves;
	e->next_route = &gkhi_route_off;
	if (e->plan_effective == GKHI_DISABLED)
		return 0;
	err = gkhi_entry_route(e, e->plan_routing, &e->next_route, &e->plan_list);
	if (err == -ENXIO) {	/* after a fork: not opened (again) */
		e->next_route = &gkhi_route_nowhere;
		e->plan_list = false;
		e->plan_why = GKHI_WHY_NO_CHANNEL;
		err = 0;
	}
	if (err) {
		e->next_route = e->route;
		e->plan_list = false;
		return err;
	}
	if (e->moves & GKHI_ARM_PADS)
		gkhi_make_detours(e);
	return gkhi_declare(e);
}

int gkhi_plan_prepare(void)
{
	uint32_t i, sites = 0;
	int err = 0;

	gkhi_set.moves = 0;
	gkhi_set.trouble = false;
	gkhi_set.lists = false;
	for (i = 0; i < gkhi_set.n && !err; i++) {
		err = gkhi_prepare_entry(gkhi_set.entry[i]);
		sites += gkhi_set.entry[i]->n_keys + gkhi_set.entry[i]->n_pads;
	}
	return err ? err : gkhi_places_reserve(sites);
}

/* ------------------------------------------------------------ what came of it */

/* May @hook run through its pads? Only if it has some, and each of them jumps. */
static bool gkhi_hook_pads_ok(const struct gkhi_hook_entry *e, const struct gkhi_hook *hook, uint8_t *why)
{
	const struct gkhi_site *s;
	bool some = false;

	if (!e->trouble && !e->hooks->next)
		return e->n_pads > e->n_bare;

	for (s = e->sites; s; s = s->next) {
		if (!s->pad || s->bare || s->hook != hook)
			continue;
		some = true;
		if (!s->jumping) {
			*why = s->why;
			return false;
		}
	}
	return some;
}

/* Places that jump or load; the reason of one that should and does not. */
static uint32_t gkhi_entry_places(const struct gkhi_hook_entry *e, uint8_t *why)
{
	const struct gkhi_site *s;
	uint32_t n = e->n_loads;

	for (s = e->sites; s; s = s->next) {
		if (s->record && !(s->bare && e->plan_effective == GKHI_MARKER))
			continue;	/* a pad of a cold block: its key leads there */
		if (s->jumping)
			n++;
		else if (s->why)
			*why = s->why;
	}
	return n;
}

/* What the hook can be in, now that the patches are in; its route follows. */
static void gkhi_judge(struct gkhi_hook_entry *e)
{
	if (!e->trouble || e->plan_effective == GKHI_DISABLED)
		return;
	if (gkhi_entry_places(e, &e->plan_why))
		return;
	e->plan_effective = GKHI_DISABLED;
	e->moves = GKHI_TO_OFF;
	if (e->plan_list)
		gkhi_list_route_free(e->next_route);
	e->plan_list = false;
	e->next_route = &gkhi_route_off;
}

static bool gkhi_entry_bare_jumps(const struct gkhi_hook_entry *e)
{
	const struct gkhi_site *s;

	for (s = e->n_bare ? e->sites : NULL; s; s = s->next) {
		if (s->bare && s->jumping)
			return true;
	}
	return false;
}

/* marker, unless none of its hooks can run through its pads: then the call serves. */
static void gkhi_modes(struct gkhi_hook_entry *e)
{
	const struct gkhi_hook_ref *ref;
	bool pads;

	if (!(e->moves & (GKHI_TO_CALL | GKHI_TO_PAD)))
		return;
	pads = gkhi_entry_bare_jumps(e);
	for (ref = e->hooks; ref; ref = ref->next) {
		struct gkhi_hook *hook = ref->hook;
		bool pad = e->moves & GKHI_TO_PAD && !(hook->flags & GKHI_HOOK_F_LOADED) &&
			   gkhi_hook_pads_ok(e, hook, &e->plan_why);

		PORT_STORE_RELEASE(hook->mode, (uint32_t)(pad ? GKHI_MODE_PAD : GKHI_MODE_CALL));
		pads |= pad || hook->flags & GKHI_HOOK_F_LOADED;
	}
	if (e->moves & GKHI_TO_PAD && !pads)
		e->plan_effective = GKHI_STATIC;
}

/* -------------------------------------------------------------------- the steps */

/*
 * The stub for the route to come, remembered: most switches come back to a route, and
 * the event is a line of memory that nothing else here wants.
 */
static const void *gkhi_entry_stub(struct gkhi_hook_entry *e)
{
	if (e->stub_route != e->next_route || !e->stub) {
		e->stub = port_stub(e->event, e->next_route);
		e->string_words = gkhi_event_string_words(e->event);
		e->stub_route = e->next_route;
	}
	return e->stub;
}

static void gkhi_gate_entry(struct gkhi_hook_entry *e)
{
	const void *stub = e->plan_effective == GKHI_DISABLED ? NULL : gkhi_entry_stub(e);
	const struct gkhi_hook_ref *ref;

	for (ref = e->hooks; ref; ref = ref->next) {
		PORT_STORE_RELEASE(ref->hook->route, &gkhi_route_gated);
		/* the stub of a hook that goes off must serve until the flip */
		if (stub) {
			ref->hook->string_words = e->string_words;
			PORT_STORE_RELEASE(ref->hook->stub, (void *)stub);
		}
		if (e->moves & GKHI_TO_CALL)
			PORT_STORE_RELEASE(ref->hook->mode, (uint32_t)GKHI_MODE_CALL);
	}
}

static void gkhi_gate(void)
{
	uint32_t i;

	for (i = 0; i < gkhi_set.n; i++)
		gkhi_gate_entry(gkhi_set.entry[i]);
	gkhi_places_patch(true);
	for (i = 0; (gkhi_set.trouble || gkhi_set.moves & GKHI_TO_PAD) && i < gkhi_set.n; i++) {
		gkhi_judge(gkhi_set.entry[i]);
		gkhi_modes(gkhi_set.entry[i]);
	}
	port_restart_sequences();
}

static void gkhi_count_users(const struct gkhi_hook_entry *e, int by)
{
	uint32_t i;

	if (e->effective == GKHI_DISABLED || !e->routing)
		return;
	for (i = 0; i < e->routing->n; i++)
		e->routing->channel[i]->users += (uint32_t)by;
}

/* The plan has come true: the entry says so. */
static void gkhi_book(struct gkhi_hook_entry *e)
{
	bool moved = e->plan_routing != e->routing;

	gkhi_count_users(e, -1);
	if (moved) {
		if (e->routing)
			e->routing->users--;
		if (e->plan_routing)
			e->plan_routing->users++;
		e->routing = e->plan_routing;
		e->stub_route = NULL;	/* another may come to lie where the old one was */
	}
	e->state = e->plan_state;
	e->effective = e->plan_effective;
	e->why = e->plan_why;
	gkhi_count_users(e, 1);
	if (moved || !e->slot || !e->hooks)
		port_hook_changed(e);
	else
		port_hook_switched(e->slot, e->state, e->effective, e->why);
}

static void gkhi_settle_entry(struct gkhi_hook_entry *e)
{
	bool list = e->own_list;
	const struct gkhi_hook_ref *ref;

	if (list) {
		e->old_list = e->route;
		gkhi_set.lists = true;
	}
	e->own_list = e->plan_list;
	e->plan_list = list;
	PORT_STORE_RELEASE(e->route, e->next_route);
	for (ref = e->hooks; ref; ref = ref->next) {
		struct gkhi_hook *hook = ref->hook;

		if (e->moves & GKHI_TO_OFF) {
			PORT_STORE_RELEASE(hook->mode, (uint32_t)GKHI_MODE_OFF);
			PORT_STORE_RELEASE(hook->stub, (void *)gkhi_stub_none);
		}
		PORT_STORE_RELEASE(hook->route, e->next_route);
	}
	gkhi_book(e);
}

static void gkhi_settle(void)
{
	uint32_t i;

	for (i = 0; i < gkhi_set.n; i++)
		gkhi_settle_entry(gkhi_set.entry[i]);
	gkhi_places_patch(false);
	PORT_STORE_RELEASE(gkhi_epoch, 0);
}

static void gkhi_free_lists(bool grace)
{
	uint32_t i;

	for (i = 0; gkhi_set.lists && i < gkhi_set.n; i++) {
		struct gkhi_hook_entry *e = gkhi_set.entry[i];

		if (!e->plan_list)
			continue;
		if (grace)
			gkhi_list_route_free(e->old_list);
		e->old_list = NULL;
	}
}

int gkhi_plan_commit(void)
{
	uint32_t i;
	int err;

	if (!gkhi_set.n)
		return 0;
	gkhi_gate();
	PORT_STORE_RELEASE(gkhi_epoch, 1);	/* the flip */
	gkhi_settle();
	err = port_synchronize();
	gkhi_free_lists(!err);
	for (i = 0; i < gkhi_set.n; i++)
		gkhi_set.entry[i]->planned = false;
	gkhi_set.n = 0;
	return err;
}
