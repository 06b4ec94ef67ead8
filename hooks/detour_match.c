// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * detour_match.c - which argument of a record feeds which field of the event.
 * Control lock held.
 */
#include "detour.h"

/* An argument as the record has it. */
struct record_arg {
	uint8_t type, size;
	const char *name, *location;
	size_t name_len, location_len;
};

struct record_cursor {
	const char *at, *stop;
};

static bool next_string(struct record_cursor *c, const char **text, size_t *len)
{
	const char *nul = memchr(c->at, 0, (size_t)(c->stop - c->at));

	if (!nul)
		return false;
	*text = c->at;
	*len = (size_t)(nul - c->at);
	c->at = nul + 1;
	return true;
}

/* The first argument is behind three strings. */
static bool first_arg(const struct gkhi_record *record, struct record_cursor *c)
{
	const char *text;
	size_t len;

	if (record->size < sizeof(*record))
		return false;
	c->at = (const char *)(record + 1);
	c->stop = (const char *)record + record->size;
	return next_string(c, &text, &len) && next_string(c, &text, &len) && next_string(c, &text, &len);
}

static bool next_record_arg(struct record_cursor *c, struct record_arg *arg)
{
	if (c->stop - c->at < 2)
		return false;
	arg->type = (uint8_t)c->at[0];
	arg->size = (uint8_t)c->at[1];
	c->at += 2;
	return next_string(c, &arg->name, &arg->name_len) && next_string(c, &arg->location, &arg->location_len);
}

static bool is_pointer(uint8_t type)
{
	return type == 'c' || type == 'b';
}

static bool is_tail(const struct gkhi_field *f)
{
	return f->offset == GKHI_NO_OFFSET;
}

/* @name is the field's, or with @suffix behind it. */
static bool names(const struct record_arg *arg, const struct gkhi_field *f, const char *suffix)
{
	size_t len = strlen(f->name), suffix_len = strlen(suffix);

	return arg->name_len == len + suffix_len && !memcmp(arg->name, f->name, len) &&
	       !memcmp(arg->name + len, suffix, suffix_len);
}

static int match_count(const struct record_arg *from, const struct gkhi_field *f, struct detour_arg *to)
{
	if (from->type != 'u' && from->type != 's')
		return -EINVAL;
	to->kind = DETOUR_COUNT;
	to->offset = f->len_offset;
	to->max = f->max;
	return 0;
}

static int match_pointer(const struct record_arg *from, const struct gkhi_field *f, struct detour_arg *to)
{
	bool string = f->type == GKHI_T_STRING;

	/* Characters of a counted field may be said to be a string. */
	if (string && from->type != 'c')
		return -EINVAL;
	if (!string && !(from->type == 'b' && from->size == f->size) && !(from->type == 'c' && f->size == 1))
		return -EINVAL;
	to->kind = string ? DETOUR_STRING : is_tail(f) ? DETOUR_BYTES : DETOUR_ARRAY;
	to->offset = is_tail(f) ? f->len_offset : f->offset;
	to->size = f->size;
	to->max = f->max;
	return 0;
}

static int match_scalar(const struct record_arg *from, const struct gkhi_field *f, struct detour_arg *to)
{
	bool floating = f->type == GKHI_T_FLOAT;

	if (is_pointer(from->type) || floating != (from->type == 'f'))
		return -EINVAL;
	if (floating && from->size != f->size)
		return -EINVAL;
	to->kind = DETOUR_SCALAR;
	to->offset = f->offset;
	to->size = f->size;
	to->is_signed = from->type == 's';
	to->is_bool = f->type == GKHI_T_BOOL;
	return 0;
}

static bool is_scalar(const struct gkhi_field *f)
{
	return f->form == GKHI_FORM_SCALAR && f->type != GKHI_T_STRING && f->type != GKHI_T_BINARY;
}

static int match_location(const struct record_arg *from, struct detour *d, struct detour_arg *to)
{
	to->load = is_pointer(from->type) ? 8 : from->size;
	if (gkhi_location_parse(from->location, from->location_len, to->load, &to->loc, NULL))
		return -EINVAL;
	if (to->loc.kind == GKHI_LOCATION_XMM) {
		if (to->loc.reg >= 16)
			return -EINVAL;		/* only the low sixteen are saved */
		d->flags |= DETOUR_F_XMM;
	}
	return 0;
}

/* Find the field that @from is for. @tail: index of the next tail pointer. */
static int match_arg(const struct record_arg *from, const struct gkhi_event *event, struct detour *d,
		     struct detour_arg *to)
{
	uint16_t i, tail = 0;
	int rc = -EINVAL;

	for (i = 0; i < event->n_fields; i++) {
		const struct gkhi_field *f = &event->fields[i];

		if (f->len_offset != GKHI_NO_OFFSET && names(from, f, ".len")) {
			rc = match_count(from, f, to);
			break;
		}
		if (names(from, f, "")) {
			to->tail = tail;
			rc = is_scalar(f) ? match_scalar(from, f, to) : match_pointer(from, f, to);
			break;
		}
		tail += is_tail(f);
	}
	return rc ? rc : match_location(from, d, to);
}

/* Every field once, every count once; then nothing is missing either. */
static uint32_t wanted_args(const struct gkhi_event *event)
{
	uint32_t n = event->n_fields;
	uint16_t i;

	for (i = 0; i < event->n_fields; i++)
		n += event->fields[i].len_offset != GKHI_NO_OFFSET;
	return n;
}

static bool twice(const struct detour *d, const struct detour_arg *arg)
{
	const struct detour_arg *other;

	for (other = d->arg; other < &d->arg[d->n_args]; other++) {
		if (other == arg)
			continue;
		if (other->kind == arg->kind && other->offset == arg->offset && other->tail == arg->tail)
			return true;
	}
	return false;
}

/* Counts first: a tail asks for its own. */
static void counts_first(struct detour *d)
{
	uint16_t i, at = 0;

	for (i = 0; i < d->n_args; i++) {
		struct detour_arg arg = d->arg[i];

		if (arg.kind != DETOUR_COUNT)
			continue;
		d->arg[i] = d->arg[at];
		d->arg[at++] = arg;
	}
}

static int match_all(const struct gkhi_record *record, const struct gkhi_event *event, struct detour *d)
{
	struct record_cursor c;
	struct record_arg from;
	int rc;

	if (!first_arg(record, &c))
		return -EINVAL;
	while (d->n_args < record->nargs) {
		if (!next_record_arg(&c, &from))
			return -EINVAL;
		rc = match_arg(&from, event, d, &d->arg[d->n_args]);
		if (rc)
			return rc;
		d->n_args++;
		if (twice(d, &d->arg[d->n_args - 1]))
			return -EINVAL;
	}
	counts_first(d);
	return 0;
}

int detour_match(const struct gkhi_record *record, struct gkhi_hook *hook, const struct gkhi_event *event,
		 struct detour **out)
{
	size_t bytes = sizeof(struct detour) + record->nargs * sizeof(struct detour_arg);
	struct detour *d;
	int rc;

	if (record->padlen != GKHI_PAD_LEN || record->nargs != wanted_args(event))
		return -EINVAL;
	d = port_alloc(bytes);
	if (!d)
		return -ENOMEM;
	d->bytes = (uint32_t)bytes;
	d->hook = hook;
	d->resume = (uintptr_t)gkhi_relative(&record->pad) + GKHI_PAD_LEN;
	d->fixed_words = event->fixed_words;
	d->n_tails = event->n_tails;
	d->string_words = gkhi_event_string_words(event);
	d->frame_bytes = (8u * (event->fixed_words + event->n_tails) + 15) & ~15u;
	d->flags_live = record->origin != GKHI_ORIGIN_MACRO;
	d->trusted = record->origin == GKHI_ORIGIN_MACRO;
	rc = match_all(record, event, d);
	if (rc) {
		port_free(d, bytes);
		return rc;
	}
	*out = d;
	return 0;
}
