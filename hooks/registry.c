// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * registry.c - the hooks there are, by name and layout: found by hash, listed by
 * name, numbered in order of registration. An entry lives as long as its producer,
 * whatever happens to the objects that brought it.
 *
 *   call             context              may run against
 *   everything       control lock held    dispatch, which reads entries it is handed
 */
#include "internal.h"

#define GKHI_FIRST_BUCKETS	64u	/* a power of two; doubled when entries outnumber buckets */

struct gkhi_core gkhi_core;

static uint64_t gkhi_hash(const char *name, size_t len, uint64_t layout)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ layout;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ull;
	return hash ^ hash >> 32;
}

static struct gkhi_hook_entry **gkhi_bucket(const char *name, size_t len, uint64_t layout)
{
	return &gkhi_core.bucket[gkhi_hash(name, len, layout) & (gkhi_core.n_buckets - 1)];
}

struct gkhi_hook_entry *gkhi_entry_find(const char *name, size_t len, uint64_t layout)
{
	struct gkhi_hook_entry *e;

	if (!gkhi_core.n_buckets)
		return NULL;
	for (e = *gkhi_bucket(name, len, layout); e; e = e->hash_next) {
		if (e->layout == layout && e->name_len == len && !memcmp(e->name, name, len))
			return e;
	}
	return NULL;
}

/* Twice the buckets, twice the entries. */
static int gkhi_registry_grow(void)
{
	uint32_t n = gkhi_core.n_buckets ? 2 * gkhi_core.n_buckets : GKHI_FIRST_BUCKETS;
	struct gkhi_hook_entry **bucket = port_alloc(n * sizeof(*bucket));
	struct gkhi_hook_entry **entry = port_alloc(n * sizeof(*entry));
	uint32_t i;

	if (!bucket || !entry) {
		port_free(bucket, n * sizeof(*bucket));
		port_free(entry, n * sizeof(*entry));
		return -ENOMEM;
	}
	port_free(gkhi_core.bucket, gkhi_core.n_buckets * sizeof(*bucket));
	if (gkhi_core.n_entries)
		memcpy(entry, gkhi_core.entry, gkhi_core.n_entries * sizeof(*entry));
	port_free(gkhi_core.entry, gkhi_core.capacity * sizeof(*entry));
	gkhi_core.bucket = bucket;
	gkhi_core.entry = entry;
	gkhi_core.n_buckets = n;
	gkhi_core.capacity = n;
	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = entry[i];
		struct gkhi_hook_entry **head = gkhi_bucket(e->name, e->name_len, e->layout);

		e->hash_next = *head;
		*head = e;
	}
	return 0;
}

static struct gkhi_provider *gkhi_provider_get(const char *name, size_t len)
{
	struct gkhi_provider *p;

	for (p = gkhi_core.providers; p; p = p->next) {
		if (p->len == len && !memcmp(p->name, name, len))
			return p;
	}
	p = port_alloc(sizeof(*p) + len + 1);
	if (!p)
		return NULL;
	p->len = (uint32_t)len;
	memcpy(p->name, name, len);
	p->next = gkhi_core.providers;
	gkhi_core.providers = p;
	return p;
}

/* Whole cache lines, so that it begins at one (port_alloc). */
static size_t gkhi_entry_size(size_t len)
{
	return (sizeof(struct gkhi_hook_entry) + len + 1 + 63) & ~(size_t)63;
}

static struct gkhi_hook_entry *gkhi_entry_new(const char *name, size_t len, uint64_t layout)
{
	const char *colon = memchr(name, ':', len);
	struct gkhi_provider *provider = gkhi_provider_get(name, colon ? (size_t)(colon - name) : 0);
	struct gkhi_hook_entry *e = provider ? port_alloc(gkhi_entry_size(len)) : NULL;
	uint32_t id = gkhi_core.n_entries + 1;

	if (!e)
		return NULL;
	e->route = &gkhi_route_off;
	e->next_route = &gkhi_route_off;
	e->counters = e->own_counters;
	e->id = id <= GKHI_ID_MAX ? id : 0;
	e->why = GKHI_WHY_OK;
	e->provider = provider;
	e->layout = layout;
	e->name_len = (uint16_t)len;
	memcpy(e->name, name, len);
	return e;
}

struct gkhi_hook_entry *gkhi_entry_get(const char *name, size_t len, uint64_t layout)
{
	struct gkhi_hook_entry *e = gkhi_entry_find(name, len, layout);
	struct gkhi_hook_entry **head;

	if (e)
		return e;
	if (gkhi_core.n_entries == gkhi_core.capacity && gkhi_registry_grow())
		return NULL;
	e = gkhi_entry_new(name, len, layout);
	if (!e)
		return NULL;
	head = gkhi_bucket(name, len, layout);
	e->hash_next = *head;
	*head = e;
	gkhi_core.entry[gkhi_core.n_entries++] = e;
	gkhi_core.sorted = false;
	return e;
}

void gkhi_entries_pop(uint32_t n)
{
	while (gkhi_core.n_entries > n) {
		struct gkhi_hook_entry *e = gkhi_core.entry[--gkhi_core.n_entries];
		struct gkhi_hook_entry **at = gkhi_bucket(e->name, e->name_len, e->layout);

		while (*at != e)
			at = &(*at)->hash_next;
		*at = e->hash_next;
		if (e->event)
			gkhi_event_copy_free(e->event);
		port_free(e, gkhi_entry_size(e->name_len));
		gkhi_core.sorted = false;
	}
}

/* The producer ends: no object is left, and no channel. */
void gkhi_core_free(void)
{
	gkhi_plan_release();
	gkhi_entries_pop(0);
	gkhi_routings_trim();
	port_free(gkhi_core.bucket, gkhi_core.n_buckets * sizeof(*gkhi_core.bucket));
	port_free(gkhi_core.entry, gkhi_core.capacity * sizeof(*gkhi_core.entry));
	while (gkhi_core.providers) {
		struct gkhi_provider *p = gkhi_core.providers;

		gkhi_core.providers = p->next;
		port_free(p, sizeof(*p) + p->len + 1);
	}
	while (gkhi_core.later) {
		struct gkhi_later *later = gkhi_core.later;

		gkhi_core.later = later->next;
		port_free(later, sizeof(*later) + later->len);
	}
	memset(&gkhi_core, 0, sizeof(gkhi_core));
}

/* ------------------------------------------------------------ in order of name */

static int gkhi_entry_compare(const struct gkhi_hook_entry *a, const struct gkhi_hook_entry *b)
{
	int by_name = strcmp(a->name, b->name);

	return by_name ? by_name : (a->id > b->id) - (a->id < b->id);
}

static struct gkhi_hook_entry *gkhi_merge(struct gkhi_hook_entry *a, struct gkhi_hook_entry *b)
{
	struct gkhi_hook_entry *head = NULL, **tail = &head;

	while (a && b) {
		struct gkhi_hook_entry **least = gkhi_entry_compare(a, b) <= 0 ? &a : &b;

		*tail = *least;
		tail = &(*least)->name_next;
		*least = (*least)->name_next;
	}
	*tail = a ? a : b;
	return head;
}

/* Runs of 1, 2, 4, ... entries wait in run[]: a merge sort that needs no memory. */
static void gkhi_registry_sort(void)
{
	struct gkhi_hook_entry *run[32] = { NULL };
	struct gkhi_hook_entry *all = NULL;
	uint32_t i, level;

	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = gkhi_core.entry[i];

		e->name_next = NULL;
		for (level = 0; run[level]; level++) {
			e = gkhi_merge(run[level], e);
			run[level] = NULL;
		}
		run[level] = e;
	}
	for (level = 0; level < 32; level++)
		all = gkhi_merge(run[level], all);
	gkhi_core.by_name = all;
	gkhi_core.sorted = true;
}

struct gkhi_hook_entry *gkhi_core_next(struct gkhi_hook_entry *entry)
{
	if (entry && gkhi_core.sorted)
		return entry->name_next;
	if (!gkhi_core.sorted)
		gkhi_registry_sort();
	return entry ? entry->name_next : gkhi_core.by_name;
}

/* -------------------------------------------------------------- as others see it */

/* Sites that load the mode: as their records say, or one for each hook without. */
static uint32_t gkhi_entry_loads(const struct gkhi_hook_entry *e)
{
	const struct gkhi_site *s;
	uint32_t n = 0;

	for (s = e->n_loads ? e->sites : NULL; s; s = s->next)
		n += s->record && !s->pad;
	return n > e->n_loads ? n : e->n_loads;
}

void gkhi_core_describe(const struct gkhi_hook_entry *entry, struct gkhi_hook_info *info)
{
	struct gkhi_hook_entry *e = (struct gkhi_hook_entry *)entry;
	uint32_t i;

	memset(info, 0, sizeof(*info));
	info->name = e->name;
	info->event = e->event;
	info->layout = e->layout;
	info->hits = PORT_READ_ONCE(e->counters[0]);
	info->lost = PORT_READ_ONCE(e->counters[1]);
	info->slot = &e->slot;
	info->counters = &e->counters;
	info->id = e->id;
	info->n_keys = e->n_keys + gkhi_entry_loads(e);
	info->n_pads = e->n_pads;
	info->state = (enum gkhi_state)e->state;
	info->effective = (enum gkhi_state)e->effective;
	info->why = (enum gkhi_why)e->why;
	info->gone = !e->hooks;
	if (e->event)
		info->states = e->event->states;
	else
		info->states = e->n_keys + e->n_loads ? GKHI_HAS_STATIC | GKHI_HAS_MARKER : GKHI_HAS_MARKER;
	if (!e->routing)
		return;
	info->n_channels = e->routing->n;
	for (i = 0; i < e->routing->n; i++)
		info->channels[i] = e->routing->channel[i];
}
