// SPDX-License-Identifier: MIT
/*
 * detour.c - port_detour(): the detour of a pad, made at the first request and
 * found again later. A library that is unloaded and loaded again at the same
 * place gets its old detours back, so that a plugin reloaded all day costs nothing.
 * Control lock held.
 */
#include "detour.h"

#define DETOUR_BUCKETS	1024u		/* a power of two */

static struct detour *detours[DETOUR_BUCKETS];

static struct detour **bucket_of(uintptr_t resume)
{
	return &detours[resume * 0x9e3779b97f4a7c15ul >> 54 & (DETOUR_BUCKETS - 1)];
}

/* FNV-1a of a record, so that another library at the same place is another pad. */
static uint64_t hash_of(const struct gkhi_record *record)
{
	const uint8_t *bytes = (const uint8_t *)record;
	uint64_t hash = 0xcbf29ce484222325ul;
	uint32_t i;

	for (i = 0; i < record->size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ul;
	return hash;
}

static const struct detour *find(uintptr_t resume, uint64_t key, const struct gkhi_hook *hook, uint64_t layout)
{
	const struct detour *d;

	for (d = *bucket_of(resume); d; d = d->next)
		if (d->resume == resume && d->key == key && d->hook == hook && d->layout == layout)
			return d;
	return NULL;
}

static int make(const struct gkhi_record *record, struct gkhi_hook *hook, const struct gkhi_event *event,
		uint64_t key, const void **entry)
{
	struct detour **bucket, *d;
	int rc = detour_match(record, hook, event, &d);

	if (rc)
		return rc;
	d->key = key;
	d->layout = event->layout;
	rc = detour_code(d);
	if (rc) {
		port_free(d, d->bytes);
		return rc;
	}
	bucket = bucket_of(d->resume);
	d->next = *bucket;
	*bucket = d;
	*entry = d->entry;
	return 0;
}

int port_detour(const struct gkhi_record *record, struct gkhi_hook *hook, const struct gkhi_event *event,
		const void **entry, enum gkhi_why *why)
{
	uintptr_t resume = (uintptr_t)&record->pad + (intptr_t)record->pad + GKHI_PAD_LEN;
	uint64_t key = hash_of(record);
	const struct detour *d = find(resume, key, hook, event->layout);
	int rc;

	if (d) {
		*entry = d->entry;
		return 0;
	}
	rc = make(record, hook, event, key, entry);
	if (rc)
		*why = rc == -ENOMEM ? GKHI_WHY_NO_MEMORY : GKHI_WHY_NO_DETOUR;
	return rc;
}
