// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * place.c - the keys and pads of a set that is switched: gathered in order of
 * address, patched in one round, and what failed told to their entries.
 *
 *   call             context              may run against
 *   everything       control lock held    threads that run through the places
 */
#include "internal.h"

static struct {
	struct port_patch *patch;
	struct gkhi_site **site;	/* of each patch */
	uint32_t n;
	uint32_t capacity;
} gkhi_places;

int gkhi_places_reserve(uint32_t n)
{
	struct port_patch *patch;
	struct gkhi_site **site;

	if (n <= gkhi_places.capacity)
		return 0;
	n += n / 2;
	patch = port_alloc(n * sizeof(*patch));
	site = port_alloc(n * sizeof(*site));
	if (!patch || !site) {
		port_free(patch, n * sizeof(*patch));
		port_free(site, n * sizeof(*site));
		return -ENOMEM;
	}
	port_free(gkhi_places.patch, gkhi_places.capacity * sizeof(*patch));
	port_free(gkhi_places.site, gkhi_places.capacity * sizeof(*site));
	gkhi_places.patch = patch;
	gkhi_places.site = site;
	gkhi_places.capacity = n;
	return 0;
}

void gkhi_places_release(void)
{
	port_free(gkhi_places.patch, gkhi_places.capacity * sizeof(*gkhi_places.patch));
	port_free(gkhi_places.site, gkhi_places.capacity * sizeof(*gkhi_places.site));
	memset(&gkhi_places, 0, sizeof(gkhi_places));
}

/* Does @s want a patch? Then it is taken for done; what fails is told afterwards. */
static void gkhi_gather_site(struct gkhi_site *s, bool arm)
{
	unsigned int moves = s->bare ? s->entry->bare_moves : s->entry->moves;
	unsigned int want;
	struct port_patch *p;

	if (arm)
		want = s->record ? GKHI_ARM_PADS : GKHI_ARM_KEYS;
	else
		want = s->record ? GKHI_DISARM_PADS : GKHI_DISARM_KEYS;
	if (!(moves & want) || s->jumping == arm || !s->target)
		return;
	s->jumping = arm;
	s->why = GKHI_WHY_OK;
	p = &gkhi_places.patch[gkhi_places.n];
	p->addr = s->code;
	p->target = arm ? s->target : NULL;
	p->ours = s->target;
	p->status = 0;
	gkhi_places.site[gkhi_places.n++] = s;
}

static void gkhi_patches_swap(uint32_t i, uint32_t j)
{
	struct port_patch p = gkhi_places.patch[i];
	struct gkhi_site *s = gkhi_places.site[i];

	gkhi_places.patch[i] = gkhi_places.patch[j];
	gkhi_places.site[i] = gkhi_places.site[j];
	gkhi_places.patch[j] = p;
	gkhi_places.site[j] = s;
}

static bool gkhi_patch_below(uint32_t i, uint32_t j)
{
	return (uintptr_t)gkhi_places.patch[i].addr < (uintptr_t)gkhi_places.patch[j].addr;
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
	uint32_t i, n = gkhi_places.n;

	for (i = n / 2; i-- > 0;)
		gkhi_sift(i, n);
	while (n > 1) {
		gkhi_patches_swap(0, --n);
		gkhi_sift(0, n);
	}
}

static void gkhi_gather_small(bool arm)
{
	struct gkhi_site *s;
	uint32_t i;

	for (i = 0; i < gkhi_set.n; i++)
		for (s = gkhi_set.entry[i]->sites; s; s = s->next)
			gkhi_gather_site(s, arm);
	gkhi_patches_sort();
}

static void gkhi_gather_planned(struct gkhi_site *s, bool arm)
{
	if (s->entry->planned)
		gkhi_gather_site(s, arm);
}

/* Keys and pads of an object lie in order each: merge them. */
static void gkhi_gather_object(const struct gkhi_object *o, bool arm)
{
	unsigned int keys = arm ? GKHI_ARM_KEYS : GKHI_DISARM_KEYS;
	unsigned int pads = arm ? GKHI_ARM_PADS : GKHI_DISARM_PADS;
	struct gkhi_site *key = o->sites, *key_end = o->sites + (gkhi_set.moves & keys ? o->n_keys : 0);
	struct gkhi_site *pad = o->sites + o->n_keys, *pad_end = gkhi_set.moves & pads ? o->sites + o->n_sites : pad;

	while (key < key_end || pad < pad_end) {
		if (pad == pad_end || (key < key_end && (uintptr_t)key->code < (uintptr_t)pad->code))
			gkhi_gather_planned(key++, arm);
		else
			gkhi_gather_planned(pad++, arm);
	}
}

/*
 * Patches in order of address. Small sets: from their entries, then sorted; large
 * ones: through all objects.
 */
static void gkhi_gather(bool arm)
{
	const struct gkhi_object *object;

	gkhi_places.n = 0;
	if (gkhi_set.n < 64 || gkhi_set.n < gkhi_core.n_entries / 16) {
		gkhi_gather_small(arm);
		return;
	}
	for (object = gkhi_core.objects; object; object = object->next)
		gkhi_gather_object(object, arm);
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
	case -EINPROGRESS:		/* the kernel's probes, from here on */
		return GKHI_WHY_ARMING;
	case -EPERM:
		return GKHI_WHY_LOCKDOWN;
	case -EOPNOTSUPP:
		return GKHI_WHY_KPROBES_OFF;
	case -EADDRNOTAVAIL:
		return GKHI_WHY_NO_PROBE;
	default:
		return GKHI_WHY_TEXT_READONLY;
	}
}

static void gkhi_patch_failed(struct gkhi_site *s, int status)
{
	s->jumping = !s->jumping;
	s->why = (uint8_t)gkhi_patch_why(status);
	s->entry->trouble = true;
	gkhi_set.trouble = true;
}

void gkhi_places_patch(bool arm)
{
	uint32_t i;

	if (!(gkhi_set.moves & (arm ? GKHI_ARM_KEYS | GKHI_ARM_PADS : GKHI_DISARM_KEYS | GKHI_DISARM_PADS)))
		return;
	gkhi_gather(arm);
	if (!gkhi_places.n)
		return;
	if (port_patch(gkhi_places.patch, gkhi_places.n)) {
		for (i = 0; i < gkhi_places.n; i++) {
			if (gkhi_places.patch[i].status)
				gkhi_patch_failed(gkhi_places.site[i], gkhi_places.patch[i].status);
		}
	}
	port_sync_core();
}
