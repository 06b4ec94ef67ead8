// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * record.c - walk the map of an object: every record is checked before anybody
 * looks into it; a broken one is counted and walked over.
 */
#include "internal.h"

#define GKHI_RECORD_ALIGN	4u
#define GKHI_RECORD_SIZE_MAX	65536u

/* Behind the string at @s, or NULL if it does not end before @stop. */
static const char *gkhi_string_end(const char *s, const char *stop)
{
	const char *nul = s < stop ? memchr(s, '\0', (size_t)(stop - s)) : NULL;

	return nul ? nul + 1 : NULL;
}

static bool gkhi_record_body_ok(const struct gkhi_record *r)
{
	const char *stop = (const char *)r + r->size;
	const char *at = gkhi_record_event(r);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		at = gkhi_string_end(at, stop);
		if (!at)
			return false;
	}
	for (i = 0; i < r->nargs; i++) {
		if (stop - at < 2)
			return false;
		at = gkhi_string_end(at + 2, stop);
		at = at ? gkhi_string_end(at, stop) : NULL;
		if (!at)
			return false;
	}
	return strchr(gkhi_record_event(r), ':') != NULL;
}

/* A pad; or a mere place, whose site loads the mode, and which is not in anybody's hot path. */
static bool gkhi_record_pad_ok(const struct gkhi_record *r)
{
	return r->padlen == GKHI_PAD_LEN || (!r->padlen && !(r->flags & GKHI_RECORD_BARE));
}

/* Enough of a record that its size can be believed. */
static bool gkhi_record_head_ok(const struct gkhi_record *r, size_t room)
{
	return room >= sizeof(*r) && r->magic == GKHI_RECORD_MAGIC && r->size >= sizeof(*r) &&
	       r->size <= room && r->size <= GKHI_RECORD_SIZE_MAX && r->size % GKHI_RECORD_ALIGN == 0;
}

/* Zeroes that a linker put between two files' records are no fault. */
static bool gkhi_record_gap(const char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return !word;
}

const struct gkhi_record *gkhi_record_next(const char **cursor, const char *stop, uint32_t *n_broken)
{
	bool lost = false;

	while (stop - *cursor >= (ptrdiff_t)GKHI_RECORD_ALIGN) {
		const struct gkhi_record *r = (const struct gkhi_record *)*cursor;

		if (!gkhi_record_head_ok(r, (size_t)(stop - *cursor))) {
			/* one fault, however long the way to the next magic */
			if (!lost && !gkhi_record_gap(*cursor)) {
				++*n_broken;
				lost = true;
			}
			*cursor += GKHI_RECORD_ALIGN;
			continue;
		}
		lost = false;
		*cursor += r->size;
		if (r->version == GKHI_RECORD_VERSION && gkhi_record_pad_ok(r) && gkhi_record_body_ok(r))
			return r;
		++*n_broken;
	}
	return NULL;
}
