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

static struct {
	struct gkhi_hook_entry **entry;
	uint32_t n;
	uint32_t capacity;
	struct port_patch *patch;
	struct gkhi_site **site;	/* of each patch */
	uint32_t n_patches;
	uint32_t patch_capacity;
} gkhi_set;

/* ---------------------------------------------------------------------- the set */

uint32_t gkhi_plan_size(void)
{
	return gkhi_set.n;
}

struct gkhi_hook_entry *gkhi_plan_entry(uint32_t i)
{
	return gkhi_set.entry[i];
}

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

static int gkhi_patches_reserve(uint32_t n)
{
	struct port_patch *patch;
	struct gkhi_site **site;

	if (n <= gkhi_set.patch_capacity)
		return 0;
	n += n / 2;
	patch = port_alloc(n * sizeof(*patch));
	site = port_alloc(n * sizeof(*site));
	if (!patch || !site) {
		port_free(patch, n * sizeof(*patch));
		port_free(site, n * sizeof(*site));
		return -ENOMEM;
	}
	port_free(gkhi_set.patch, gkhi_set.patch_capacity * sizeof(*patch));
	port_free(gkhi_set.site, gkhi_set.patch_capacity * sizeof(*site));
	gkhi_set.patch = patch;
	gkhi_set.site = site;
	gkhi_set.patch_capacity = n;
	return 0;
}

void gkhi_plan_release(void)
{
	port_free(gkhi_set.entry, gkhi_set.capacity * sizeof(*gkhi_set.entry));
	port_free(gkhi_set.patch, gkhi_set.patch_capacity * sizeof(*gkhi_set.patch));
	port_free(gkhi_set.site, gkhi_set.patch_capacity * sizeof(*gkhi_set.site));
	memset(&gkhi_set, 0, sizeof(gkhi_set));
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
	if (!e->event)
		return GKHI_WHY_NO_EVENT;
	if (!e->id)
		return GKHI_WHY_TOO_MANY_IDS;
	if (e->plan_state == GKHI_STATIC && !(e->event->states & GKHI_HAS_STATIC))
		return GKHI_WHY_NO_STATIC;
	if (e->plan_state == GKHI_MARKER && !(e->event->states & GKHI_HAS_MARKER))
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

		if (!s->record || s->target)
			continue;
		if (port_detour(s->record, s->hook, e->event, &s->target, &why)) {
			s->target = NULL;
			s->why = (uint8_t)why;
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

	for (i = 0; i < gkhi_set.n && !err; i++) {
		err = gkhi_prepare_entry(gkhi_set.entry[i]);
		sites += gkhi_set.entry[i]->n_keys + gkhi_set.entry[i]->n_pads;
	}
	return err ? err : gkhi_patches_reserve(sites);
}

/* ----------------------------------------------------------------- patch places */

/* Does @s want a patch, and which? */
static bool gkhi_site_patch(const struct gkhi_site *s, bool arm, struct port_patch *p)
{
	unsigned int moves = s->bare ? s->entry->bare_moves : s->entry->moves;
	unsigned int want;

	if (arm)
		want = s->record ? GKHI_ARM_PADS : GKHI_ARM_KEYS;
	else
		want = s->record ? GKHI_DISARM_PADS : GKHI_DISARM_KEYS;
	if (!(moves & want) || s->jumping == arm || !s->target)
		return false;
	p->addr = s->code;
	p->target = arm ? s->target : NULL;
	p->ours = s->target;
	p->status = 0;
	return true;
}

static void gkhi_gather_site(struct gkhi_site *s, bool arm)
{
	if (!gkhi_site_patch(s, arm, &gkhi_set.patch[gkhi_set.n_patches]))
		return;
	gkhi_set.site[gkhi_set.n_patches++] = s;
}

static void gkhi_patches_swap(uint32_t i, uint32_t j)
{
	struct port_patch p = gkhi_set.patch[i];
	struct gkhi_site *s = gkhi_set.site[i];

	gkhi_set.patch[i] = gkhi_set.patch[j];
	gkhi_set.site[i] = gkhi_set.site[j];
	gkhi_set.patch[j] = p;
	gkhi_set.site[j] = s;
}

static bool gkhi_patch_below(uint32_t i, uint32_t j)
{
	return (uintptr_t)gkhi_set.patch[i].addr < (uintptr_t)gkhi_set.patch[j].addr;
}

static void gkhi_sift(uint32_t at, uint32_t n)
{
	uint32_t child;

	for (; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && gkhi_patch_below(child, child + 1))
			child++;
		if (!gkhi_patch_below(at, child))
			return;
		gkhi_patches_swap(at, child);
	}
}

static void gkhi_patches_sort(void)
{
	uint32_t i, n = gkhi_set.n_patches;

	for (i = n / 2; i-- > 0;)
		gkhi_sift(i, n);
	while (n > 1) {
		gkhi_patches_swap(0, --n);
		gkhi_sift(0, n);
	}
}

/*
 * Patches in order of address. Small sets: from their entries, then sorted; large
 * ones: through all objects, whose places are in order already.
 */
static void gkhi_gather(bool arm)
{
	const struct gkhi_object *object;
	struct gkhi_site *s;
	uint32_t i;

	gkhi_set.n_patches = 0;
	if (gkhi_set.n < 64 || gkhi_set.n < gkhi_core.n_entries / 16) {
		for (i = 0; i < gkhi_set.n; i++)
			for (s = gkhi_set.entry[i]->sites; s; s = s->next)
				gkhi_gather_site(s, arm);
		gkhi_patches_sort();
		return;
	}
	for (object = gkhi_core.objects; object; object = object->next) {
		for (i = 0; i < object->n_sites; i++) {
			if (object->sites[i].entry->planned)
				gkhi_gather_site(&object->sites[i], arm);
		}
	}
}

static enum gkhi_why gkhi_patch_why(int status)
{
	switch (status) {
	case 0:
		return GKHI_WHY_OK;
	case -EBUSY:
		return GKHI_WHY_SITE_CHANGED;
	case -ERANGE:
		return GKHI_WHY_NO_DETOUR;
	case -ENOMEM:
		return GKHI_WHY_NO_MEMORY;
	default:
		return GKHI_WHY_TEXT_READONLY;
	}
}

static void gkhi_patch_set(bool arm)
{
	uint32_t i;

	gkhi_gather(arm);
	if (!gkhi_set.n_patches)
		return;
	port_patch(gkhi_set.patch, gkhi_set.n_patches);
	for (i = 0; i < gkhi_set.n_patches; i++) {
		int status = gkhi_set.patch[i].status;

		gkhi_set.site[i]->why = (uint8_t)gkhi_patch_why(status);
		if (!status)
			gkhi_set.site[i]->jumping = arm;
	}
	port_sync_core();
}

/* ------------------------------------------------------------ what came of it */

/* May @hook run through its pads? Only if it has some, and each of them jumps. */
static bool gkhi_hook_pads_ok(const struct gkhi_hook_entry *e, const struct gkhi_hook *hook, uint8_t *why)
{
	const struct gkhi_site *s;
	bool some = false;

	for (s = e->sites; s; s = s->next) {
		if (!s->record || s->bare || s->hook != hook)
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
	if (e->plan_effective == GKHI_DISABLED)
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

static void gkhi_gate(void)
{
	const struct gkhi_hook_ref *ref;
	uint32_t i;

	for (i = 0; i < gkhi_set.n; i++) {
		struct gkhi_hook_entry *e = gkhi_set.entry[i];
		const void *stub = e->plan_effective == GKHI_DISABLED ? NULL : port_stub(e->event, e->next_route);

		for (ref = e->hooks; ref; ref = ref->next) {
			PORT_STORE_RELEASE(ref->hook->route, &gkhi_route_gated);
			/* the stub of a hook that goes off must serve until the flip */
			if (stub) {
				ref->hook->string_words = gkhi_event_string_words(e->event);
				PORT_STORE_RELEASE(ref->hook->stub, (void *)stub);
			}
		}
	}
	gkhi_patch_set(true);
	for (i = 0; i < gkhi_set.n; i++) {
		gkhi_judge(gkhi_set.entry[i]);
		gkhi_modes(gkhi_set.entry[i]);
	}
	port_restart_sequences();
}

static void gkhi_settle(void)
{
	const struct gkhi_hook_ref *ref;
	uint32_t i;

	for (i = 0; i < gkhi_set.n; i++) {
		struct gkhi_hook_entry *e = gkhi_set.entry[i];

		e->old_list = e->own_list ? e->route : NULL;
		e->own_list = e->plan_list;
		PORT_STORE_RELEASE(e->route, e->next_route);
		for (ref = e->hooks; ref; ref = ref->next) {
			struct gkhi_hook *hook = ref->hook;

			if (e->moves & GKHI_TO_OFF) {
				PORT_STORE_RELEASE(hook->mode, (uint32_t)GKHI_MODE_OFF);
				PORT_STORE_RELEASE(hook->stub, (void *)gkhi_stub_none);
			}
			PORT_STORE_RELEASE(hook->route, e->next_route);
		}
	}
	gkhi_patch_set(false);
	PORT_STORE_RELEASE(gkhi_epoch, 0);
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
	gkhi_count_users(e, -1);
	if (e->plan_routing != e->routing) {
		if (e->routing)
			e->routing->users--;
		if (e->plan_routing)
			e->plan_routing->users++;
		e->routing = e->plan_routing;
	}
	e->state = e->plan_state;
	e->effective = e->plan_effective;
	e->why = e->plan_why;
	gkhi_count_users(e, 1);
	e->planned = false;
	port_hook_changed(e);
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
	for (i = 0; i < gkhi_set.n; i++) {
		struct gkhi_hook_entry *e = gkhi_set.entry[i];

		if (!err)
			gkhi_list_route_free(e->old_list);
		e->old_list = NULL;
		gkhi_book(e);
	}
	gkhi_set.n = 0;
	return err;
}
