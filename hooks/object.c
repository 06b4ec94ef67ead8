// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * object.c - objects with hooks come and go: executables, libraries, modules.
 *
 *   call                           context                         may run against
 *   gkhi_core_add                  control lock held; nothing of   dispatch, for other objects
 *                                  the object's text runs yet
 *   gkhi_core_remove               control lock held; nothing of   dispatch, for other objects
 *                                  the object's text runs any more
 *
 * What an object holds is believed only after it was checked: records that are
 * broken and keys that point outside are left aside, counted and told of.
 */
#include "internal.h"

/* -------------------------------------------------------------- what is in there */

static uint32_t gkhi_object_n_hooks(const struct gkhi_module *m)
{
	return (uint32_t)(((const char *)m->hooks_stop - (const char *)m->hooks_start) / sizeof(struct gkhi_hook));
}

static uint32_t gkhi_object_n_keys(const struct gkhi_module *m)
{
	return (uint32_t)(((const char *)m->keys_stop - (const char *)m->keys_start) / sizeof(struct gkhi_key));
}

static uint32_t gkhi_object_n_pads(const struct gkhi_module *m)
{
	const char *cursor = m->sites_start;
	uint32_t n = 0, broken = 0;

	while (gkhi_record_next(&cursor, m->sites_stop, &broken))
		n++;
	return n;
}

static struct gkhi_hook *gkhi_object_hook(const struct gkhi_object *o, const void *at)
{
	const char *start = o->module.hooks_start;
	size_t offset = (size_t)((const char *)at - start);

	if ((const char *)at < start || offset >= o->n_hooks * sizeof(struct gkhi_hook) ||
	    offset % sizeof(struct gkhi_hook))
		return NULL;
	return (struct gkhi_hook *)o->module.hooks_start + offset / sizeof(struct gkhi_hook);
}

static bool gkhi_name_ok(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon != name && colon[1] && strlen(name) < 256;
}

/* ------------------------------------------------------------------------ entries */

static int gkhi_object_entries(struct gkhi_object *o)
{
	struct gkhi_hook *hook = o->module.hooks_start;
	uint32_t i;

	for (i = 0; i < o->n_hooks; i++, hook++) {
		const char *name = gkhi_hook_name(hook);
		struct gkhi_hook_entry *e;

		if (!gkhi_name_ok(name)) {
			o->n_broken++;
			continue;
		}
		e = gkhi_entry_get(name, strlen(name), hook->layout);
		if (!e)
			return -ENOMEM;
		o->hooks[i].hook = hook;
		hook->priv = e;
	}
	return 0;
}

struct gkhi_hook_entry *gkhi_entry_of_event(const struct gkhi_event *event)
{
	char name[256];
	struct gkhi_text t = { name, sizeof(name), 0 };
	struct gkhi_hook_entry *e;

	gkhi_text_str(&t, event->provider);
	gkhi_text_str(&t, ":");
	gkhi_text_str(&t, event->name);
	e = gkhi_entry_get(name, t.len, event->layout);
	if (!e || e->event)
		return e;
	PORT_STORE_RELEASE(e->event, gkhi_event_copy(event));
	e->states = event->states;
	return e->event ? e : NULL;
}

/* Descriptors of several files: 8-aligned, the linker may have put zeros between. */
static int gkhi_object_events(struct gkhi_object *o)
{
	const char *at = o->module.events_start;
	const char *stop = o->module.events_stop;

	while (stop - at >= (ptrdiff_t)sizeof(struct gkhi_event)) {
		const struct gkhi_event *event = (const struct gkhi_event *)at;

		if (event->abi != GKHI_ABI_VERSION) {
			o->n_broken += event->abi != 0;
			at += 8;
			continue;
		}
		if (!gkhi_entry_of_event(event))
			return -ENOMEM;
		at += sizeof(*event);
	}
	return 0;
}

/* -------------------------------------------------------------------------- sites */

static void gkhi_object_site(struct gkhi_object *o, const struct gkhi_site *site)
{
	o->sites[o->n_sites] = *site;
	o->sites[o->n_sites++].entry = site->hook->priv;
}

static void gkhi_object_keys(struct gkhi_object *o)
{
	const struct gkhi_key *key = o->module.keys_start;
	uint32_t i, n = gkhi_object_n_keys(&o->module);

	for (i = 0; i < n; i++, key++) {
		struct gkhi_site site = {
			.code = gkhi_key_code(key),
			.target = gkhi_key_target(key),
			.hook = gkhi_object_hook(o, gkhi_key_hook(key)),
		};

		if (site.hook && site.hook->priv)
			gkhi_object_site(o, &site);
		else
			o->n_broken++;
	}
}

/* The hook of a record: of this object, by name and layout. */
static struct gkhi_hook *gkhi_record_hook(const struct gkhi_object *o, const struct gkhi_record *r)
{
	const char *name = gkhi_record_event(r);
	uint64_t layout = r->layout_lo | (uint64_t)r->layout_hi << 32;
	struct gkhi_hook_entry *e = gkhi_entry_find(name, strlen(name), layout);
	struct gkhi_hook_ref *ref;

	/* linked newest first, see gkhi_object_link() */
	for (ref = e ? e->hooks : NULL; ref; ref = ref->next) {
		if (gkhi_object_hook(o, ref->hook))
			return ref->hook;
	}
	return NULL;
}

static void gkhi_object_pads(struct gkhi_object *o)
{
	const char *cursor = o->module.sites_start;
	const struct gkhi_record *r;

	while ((r = gkhi_record_next(&cursor, o->module.sites_stop, &o->n_broken))) {
		struct gkhi_site site = {
			.code = gkhi_relative(&r->pad),
			.hook = gkhi_record_hook(o, r),
			.record = r,
			.bare = r->flags & GKHI_RECORD_BARE,
		};

		if (site.hook)
			gkhi_object_site(o, &site);
		else
			o->n_broken++;
	}
}

static void gkhi_sites_sift(struct gkhi_site *site, uint32_t at, uint32_t n)
{
	uint32_t child;

	for (; (child = 2 * at + 1) < n; at = child) {
		struct gkhi_site other = site[at];

		if (child + 1 < n && (uintptr_t)site[child].code < (uintptr_t)site[child + 1].code)
			child++;
		if ((uintptr_t)site[at].code >= (uintptr_t)site[child].code)
			return;
		site[at] = site[child];
		site[child] = other;
	}
}

static void gkhi_sites_sort(struct gkhi_site *site, uint32_t n)
{
	uint32_t i;

	for (i = n / 2; i-- > 0;)
		gkhi_sites_sift(site, i, n);
	while (n > 1) {
		struct gkhi_site last = site[--n];

		site[n] = site[0];
		site[0] = last;
		gkhi_sites_sift(site, 0, n);
	}
}

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
	gkhi_object_keys(o);
	o->n_keys = o->n_sites;
	gkhi_object_pads(o);
	gkhi_sites_sort(o->sites, o->n_keys);
	gkhi_sites_sort(o->sites + o->n_keys, o->n_sites - o->n_keys);
	for (i = 0; i < o->n_sites; i++) {
		struct gkhi_site *s = &o->sites[i];

		s->next = s->entry->sites;
		s->entry->sites = s;
		s->entry->n_keys += !s->record;
		s->entry->n_pads += !!s->record;
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
	o->n_hooks = gkhi_object_n_hooks(module);
	o->n_places = gkhi_object_n_keys(module) + gkhi_object_n_pads(module);
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
		e->n_pads -= !!s->record;
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
