// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * object_read.c - what the sections of an object say. It is believed only after it
 * was checked: records that are broken and keys that point outside are left aside
 * and counted.
 *
 *   call             context              may run against
 *   everything       control lock held    dispatch, for other objects
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

void gkhi_object_measure(struct gkhi_object *o)
{
	o->n_hooks = gkhi_object_n_hooks(&o->module);
	o->n_places = gkhi_object_n_keys(&o->module) + gkhi_object_n_pads(&o->module);
}

struct gkhi_hook *gkhi_object_hook(const struct gkhi_object *o, const void *at)
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

int gkhi_object_entries(struct gkhi_object *o)
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
int gkhi_object_events(struct gkhi_object *o)
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
			.pad = r->padlen != 0,
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

void gkhi_object_sites(struct gkhi_object *o)
{
	gkhi_object_keys(o);
	o->n_keys = o->n_sites;
	gkhi_object_pads(o);
	gkhi_sites_sort(o->sites, o->n_keys);
	gkhi_sites_sort(o->sites + o->n_keys, o->n_sites - o->n_keys);
}
