// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * event_copy.c - deep copies of event descriptors, one block each, so that they
 * outlive the object that declared them.
 */
#include "internal.h"

struct gkhi_copier {
	char *block;		/* NULL: only measure */
	size_t used;
	size_t size;
};

static void *gkhi_take(struct gkhi_copier *c, const void *from, size_t n, size_t align)
{
	void *to;

	c->used = (c->used + align - 1) & ~(align - 1);
	to = c->block ? c->block + c->used : NULL;
	c->used += n;
	if (to)
		memcpy(to, from, n);
	return to;
}

static const char *gkhi_take_string(struct gkhi_copier *c, const char *s)
{
	return s ? gkhi_take(c, s, strlen(s) + 1, 1) : NULL;
}

static void gkhi_take_field(struct gkhi_copier *c, struct gkhi_field *to, const struct gkhi_field *from)
{
	struct gkhi_enumerator *values = NULL;
	const char *name = gkhi_take_string(c, from->name);
	uint32_t i;

	if (from->n_enumerators)
		values = gkhi_take(c, from->enumerators, from->n_enumerators * sizeof(*values), 8);
	for (i = 0; i < from->n_enumerators; i++) {
		const char *value = gkhi_take_string(c, from->enumerators[i].name);

		if (values)
			values[i].name = value;
	}
	if (to) {
		to->name = name;
		to->enumerators = values;
	}
}

static struct gkhi_event *gkhi_take_event(struct gkhi_copier *c, const struct gkhi_event *from)
{
	struct gkhi_event *to = gkhi_take(c, from, sizeof(*from), 16);
	struct gkhi_field *fields = NULL;
	struct gkhi_event strings;
	uint32_t i;

	strings.provider = gkhi_take_string(c, from->provider);
	strings.name = gkhi_take_string(c, from->name);
	strings.doc = gkhi_take_string(c, from->doc);
	strings.message = gkhi_take_string(c, from->message);
	strings.default_channel = gkhi_take_string(c, from->default_channel);
	strings.json = gkhi_take_string(c, from->json);
	strings.ctf = gkhi_take_string(c, from->ctf);
	if (from->n_fields)
		fields = gkhi_take(c, from->fields, from->n_fields * sizeof(*fields), 8);
	for (i = 0; i < from->n_fields; i++)
		gkhi_take_field(c, fields ? &fields[i] : NULL, &from->fields[i]);
	if (!to)
		return NULL;
	to->provider = strings.provider;
	to->name = strings.name;
	to->doc = strings.doc;
	to->message = strings.message;
	to->default_channel = strings.default_channel;
	to->json = strings.json;
	to->ctf = strings.ctf;
	to->fields = fields;
	return to;
}

/* The block begins with its own size, the event stands behind it. */
struct gkhi_event *gkhi_event_copy(const struct gkhi_event *event)
{
	struct gkhi_copier c = { NULL, 16, 0 };

	gkhi_take_event(&c, event);
	c.size = c.used;
	c.block = port_alloc(c.size);
	if (!c.block)
		return NULL;
	memcpy(c.block, &c.size, sizeof(c.size));
	c.used = 16;
	return gkhi_take_event(&c, event);
}

void gkhi_event_copy_free(const struct gkhi_event *copy)
{
	char *block = (char *)copy - 16;
	size_t size;

	memcpy(&size, block, sizeof(size));
	port_free(block, size);
}
