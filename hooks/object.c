// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * object.c - objects with hooks come and go: executables, libraries, modules.
 *
 *   call                           context                         may run against
 *   gkhi_core_add                  control lock held; nothing of   dispatch, for other objects
 *                                  the object's text runs yet
 *   gkhi_core_remove               control lock held; nothing of   dispatch, for other objects
 *                                  the object's text runs any more
 */
#include "internal.h"

/* -------------------------------------------------------------------------- linked */

static void gkhi_hook_ready(struct gkhi_hook *hook, struct gkhi_hook_entry *e)
{
	hook->id = (uint16_t)e->id;
	hook->counter = (uint16_t)(e->id < GKHI_RING_COUNTERS ? e->id : GKHI_RING_COUNTERS - 1);
	hook->header = e->id;
	hook->step = gkhi_commit_step(1u + hook->fixed_words);
	hook->stub = (void *)gkhi_stub_none;
	hook->route = &gkhi_route_off;
	hook->mode = GKHI_MODE_OFF;
	e->n_loads = (uint16_t)(e->n_loads + !!(hook->flags & GKHI_HOOK_F_LOADED));
}

static void gkhi_object_link(struct gkhi_object *o)
{
	uint32_t i;

	for (i = 0; i < o->n_hooks; i++) {
		struct gkhi_hook_ref *ref = &o->hooks[i];
		struct gkhi_hook_entry *e;

		if (!ref->hook)
			continue;
		e = ref->hook->priv;
		gkhi_hook_ready(ref->hook, e);
		ref->next = e->hooks;
		e->hooks = ref;
	}
	gkhi_object_sites(o);
	for (i = 0; i < o->n_sites; i++) {
		struct gkhi_site *s = &o->sites[i];

		s->next = s->entry->sites;
		s->entry->sites = s;
		s->entry->n_keys += !s->record;
		s->entry->n_pads += s->pad;
		s->entry->n_bare = (uint16_t)(s->entry->n_bare + s->bare);
	}
	o->next = gkhi_core.objects;
	gkhi_core.objects = o;
}

static void gkhi_object_free(struct gkhi_object *o)
{
	port_free(o->hooks, o->n_hooks * sizeof(*o->hooks));
	port_free(o->sites, o->n_places * sizeof(*o->sites));
	port_free(o, sizeof(*o));
}

static struct gkhi_object *gkhi_object_new(const struct gkhi_module *module)
{
	struct gkhi_object *o = port_alloc(sizeof(*o));

	if (!o)
		return NULL;
	o->module = *module;
	o->users = 1;
	gkhi_object_measure(o);
	o->hooks = port_alloc(o->n_hooks * sizeof(*o->hooks));
	o->sites = port_alloc(o->n_places * sizeof(*o->sites));
	if (o->hooks && o->sites)
		return o;
	gkhi_object_free(o);
	return NULL;
}

static struct gkhi_object *gkhi_object_find(const struct gkhi_module *m)
{
	struct gkhi_object *o;

	for (o = gkhi_core.objects; o; o = o->next) {
		if (o->module.hooks_start == m->hooks_start && o->module.events_start == m->events_start &&
		    o->module.sites_start == m->sites_start && o->module.keys_start == m->keys_start)
			return o;
	}
	return NULL;
}

static void gkhi_object_complain(const struct gkhi_object *o)
{
	char line[160];
	struct gkhi_text t = { line, sizeof(line), 0 };

	gkhi_text_num(&t, o->n_broken);
	gkhi_text_str(&t, " records, keys or hooks of an object are not as this runtime knows them: left alone");
	port_log(line);
}

static void gkhi_object_stays_off(const struct gkhi_object *o)
{
	uint32_t i;

	for (i = 0; i < o->n_hooks; i++) {
		struct gkhi_hook_entry *e = o->hooks[i].hook ? o->hooks[i].hook->priv : NULL;

		if (!e || e->state == GKHI_DISABLED)
			continue;
		e->why = GKHI_WHY_NO_MEMORY;
		port_hook_changed(e);
	}
	port_log("out of memory: hooks of an object that came while they were on stay off there");
}

/* Bring the object's hooks into the states that their entries are in already. Room for the plan is there. */
static void gkhi_object_switch(const struct gkhi_object *o)
{
	uint32_t i;

	for (i = 0; i < o->n_hooks; i++) {
		struct gkhi_hook_entry *e = o->hooks[i].hook ? o->hooks[i].hook->priv : NULL;

		if (e && e->state != GKHI_DISABLED)
			gkhi_plan(e);
	}
	if (!gkhi_plan_prepare()) {
		gkhi_plan_commit();
		return;
	}
	gkhi_plan_forget();
	gkhi_object_stays_off(o);
}

/* Remembered batches are for names that were not there before. */
static void gkhi_object_later(uint32_t first_new)
{
	uint32_t i;

	if (gkhi_core.n_entries == first_new || !gkhi_core.later)
		return;
	for (i = first_new; i < gkhi_core.n_entries; i++)
		gkhi_core.entry[i]->fresh = true;
	gkhi_batch_fresh();
	for (i = first_new; i < gkhi_core.n_entries; i++)
		gkhi_core.entry[i]->fresh = false;
}

static void gkhi_object_tell(const struct gkhi_object *o, uint32_t first_new)
{
	uint32_t i;

	for (i = 0; i < o->n_hooks; i++) {
		if (o->hooks[i].hook)
			port_hook_changed(o->hooks[i].hook->priv);
	}
	for (i = first_new; i < gkhi_core.n_entries; i++) {
		if (!gkhi_core.entry[i]->hooks)
			port_hook_changed(gkhi_core.entry[i]);
	}
}

static void gkhi_object_undo(struct gkhi_object *o, uint32_t n_entries)
{
	uint32_t i;

	for (i = 0; i < o->n_hooks; i++) {
		if (o->hooks[i].hook)
			o->hooks[i].hook->priv = NULL;
	}
	gkhi_entries_pop(n_entries);
	gkhi_object_free(o);
}

int gkhi_core_add(struct gkhi_module *module)
{
	struct gkhi_object *o;
	uint32_t before = gkhi_core.n_entries;
	int err;

	if (module->abi != GKHI_ABI_VERSION)
		return -EPROTO;
	o = gkhi_object_find(module);
	if (o) {
		o->users++;
		return 0;
	}
	o = gkhi_object_new(module);
	if (!o)
		return -ENOMEM;
	err = gkhi_object_entries(o);
	if (!err)
		err = gkhi_object_events(o);
	if (!err)
		err = gkhi_plan_reserve(o->n_hooks);
	if (err) {
		gkhi_object_undo(o, before);
		return err;
	}
	gkhi_object_link(o);
	if (o->n_broken)
		gkhi_object_complain(o);
	gkhi_object_tell(o, before);
	gkhi_object_switch(o);
	gkhi_object_later(before);
	return 0;
}

/* ---------------------------------------------------------------------------- gone */

static void gkhi_entry_unlink(struct gkhi_hook_entry *e, const struct gkhi_object *o)
{
	struct gkhi_hook_ref **ref = &e->hooks;
	struct gkhi_site **site = &e->sites;

	while (*ref) {
		if (gkhi_object_hook(o, (*ref)->hook)) {
			e->n_loads = (uint16_t)(e->n_loads - !!((*ref)->hook->flags & GKHI_HOOK_F_LOADED));
			*ref = (*ref)->next;
		} else {
			ref = &(*ref)->next;
		}
	}
	while (*site) {
		struct gkhi_site *s = *site;

		if (s < o->sites || s >= o->sites + o->n_sites) {
			site = &s->next;
			continue;
		}
		e->n_keys -= !s->record;
		e->n_pads -= s->pad;
		e->n_bare = (uint16_t)(e->n_bare - s->bare);
		*site = s->next;
	}
}

/* Whoever comes through text that is not unmapped after all finds hooks that do nothing. */
static void gkhi_hook_silence(struct gkhi_hook *hook)
{
	PORT_STORE_RELEASE(hook->route, &gkhi_route_off);
	PORT_STORE_RELEASE(hook->mode, (uint32_t)GKHI_MODE_OFF);
	PORT_STORE_RELEASE(hook->stub, (void *)gkhi_stub_none);
	PORT_STORE_RELEASE(hook->priv, NULL);
}

/* Entries whose last hook went are asked for what they were, and are off. */
static void gkhi_object_unlink(struct gkhi_object *o)
{
	bool room = !gkhi_plan_reserve(o->n_hooks);
	uint32_t i;

	for (i = 0; i < o->n_hooks; i++) {
		struct gkhi_hook *hook = o->hooks[i].hook;
		struct gkhi_hook_entry *e = hook ? hook->priv : NULL;

		if (!e)
			continue;
		gkhi_entry_unlink(e, o);
		gkhi_hook_silence(hook);
		if (!e->hooks && room)
			gkhi_plan(e);
		else
			port_hook_changed(e);
	}
	/* needs no memory: all of them turn out to have no site */
	if (gkhi_plan_prepare())
		gkhi_plan_forget();
	else
		gkhi_plan_commit();
}

void gkhi_core_remove(struct gkhi_module *module)
{
	struct gkhi_object *o;
	struct gkhi_object **at;

	gkhi_exits_drop_owner(module);
	o = gkhi_object_find(module);
	if (!o || --o->users)
		return;
	for (at = &gkhi_core.objects; *at != o; at = &(*at)->next)
		;
	*at = o->next;
	gkhi_object_unlink(o);
	port_synchronize();
	gkhi_object_free(o);
}
