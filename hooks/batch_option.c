// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* batch_option.c - the options of a channel statement: read, checked, and what there is to choose from. */
#include "batch.h"

struct gkhi_choice {
	const char *name;
	uint32_t value;
};

static const struct gkhi_choice gkhi_ring_modes[] = {
	{ "overwrite", GKHI_RING_OVERWRITE },
	{ "discard", GKHI_RING_DISCARD },
	{ NULL, 0 },
};

static const struct gkhi_choice gkhi_relay_modes[] = {
	{ "managed", 0 },
	{ "adhoc", 1 },
	{ NULL, 0 },
};

static const struct gkhi_choice gkhi_streams[] = {
	{ "compact", GKHI_STREAM_COMPACT },
	{ "wide", GKHI_STREAM_WIDE },
	{ "noclock", GKHI_STREAM_NOCLOCK },
	{ NULL, 0 },
};

const char *gkhi_mode_name(const char *backend, uint32_t mode)
{
	const struct gkhi_choice *c = NULL;

	if (!strcmp(backend, "ring"))
		c = gkhi_ring_modes;
	else if (!strcmp(backend, "relay"))
		c = gkhi_relay_modes;
	for (; c && c->name; c++) {
		if (c->value == mode)
			return c->name;
	}
	return "";
}

static const char *const gkhi_backends[] = { "ring", "relay", "printk", NULL };

static const char *const gkhi_options[] = { "backend", "mode", "subbuf_size", "n_subbufs", "stream", "target", "rate", NULL };

/* Offer what there is to choose from. */
static void gkhi_hint_choices(struct gkhi_batch *b, const struct gkhi_choice *c)
{
	gkhi_hint(b, "wanted ");
	for (; c->name; c++) {
		gkhi_hint(b, c->name);
		if (c[1].name)
			gkhi_hint(b, c[2].name ? ", " : " or ");
	}
}

static int gkhi_option_choice(struct gkhi_batch *b, const char *what, const struct gkhi_word *value,
			      const struct gkhi_choice *c, uint32_t *out)
{
	struct gkhi_nearest nearest = { .word = value };
	const struct gkhi_choice *at;

	for (at = c; at->name; at++) {
		if (gkhi_word_is(value, at->name)) {
			*out = at->value;
			return 0;
		}
		gkhi_nearest_try(&nearest, at->name, strlen(at->name));
	}
	gkhi_say(b, "no ");
	gkhi_say(b, what);
	gkhi_say(b, " ");
	gkhi_say_word(b, value);
	gkhi_hint_choices(b, c);
	gkhi_hint_nearest(b, &nearest);
	return gkhi_batch_fail(b, -EINVAL, value);
}

/* Digits with an optional K, M or G. */
static bool gkhi_word_size(const struct gkhi_word *w, uint64_t *n)
{
	struct gkhi_word digits = *w;
	unsigned int shift = 0;

	if (w->len) {
		switch (w->s[w->len - 1]) {
		case 'K': case 'k':
			shift = 10;
			break;
		case 'M': case 'm':
			shift = 20;
			break;
		case 'G': case 'g':
			shift = 30;
			break;
		}
	}
	digits.len -= shift != 0;
	if (!gkhi_word_number(&digits, UINT64_MAX >> 31, n))
		return false;
	*n <<= shift;
	return true;
}

static bool gkhi_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int gkhi_option_subbuf_size(struct gkhi_batch *b, const struct gkhi_word *value, uint32_t *out)
{
	uint64_t n;

	if (gkhi_word_size(value, &n) && gkhi_power_of_two(n) && n >= GKHI_SUBBUF_MIN && n <= GKHI_SUBBUF_MAX) {
		*out = (uint32_t)n;
		return 0;
	}
	gkhi_say(b, "subbuf_size ");
	gkhi_say_word(b, value);
	gkhi_hint(b, "wanted a power of two from 4K to 64M");
	return gkhi_batch_fail(b, -EINVAL, value);
}

static int gkhi_option_n_subbufs(struct gkhi_batch *b, const struct gkhi_word *value, uint32_t *out)
{
	uint64_t n;

	if (gkhi_word_number(value, GKHI_RING_DATA_MAX / GKHI_SUBBUF_MIN, &n) && gkhi_power_of_two(n) &&
	    n >= GKHI_N_SUBBUFS_MIN) {
		*out = (uint32_t)n;
		return 0;
	}
	gkhi_say(b, "n_subbufs ");
	gkhi_say_word(b, value);
	gkhi_hint(b, "wanted a power of two, at least 4");
	return gkhi_batch_fail(b, -EINVAL, value);
}

static int gkhi_option_backend(struct gkhi_batch *b, const struct gkhi_word *value, struct gkhi_channel_config *c)
{
	struct gkhi_nearest nearest = { .word = value };
	const char *const *name;

	for (name = gkhi_backends; *name; name++) {
		if (!gkhi_backend_find(*name))
			continue;
		if (gkhi_word_is(value, *name)) {
			memset(c->backend, 0, sizeof(c->backend));
			memcpy(c->backend, *name, strlen(*name));
			b->hint.len = 0;
			return 0;
		}
		gkhi_hint(b, b->hint.len ? ", " : "there are ");
		gkhi_hint(b, *name);
		gkhi_nearest_try(&nearest, *name, strlen(*name));
	}
	gkhi_say(b, "no backend ");
	gkhi_say_word(b, value);
	gkhi_hint_nearest(b, &nearest);
	return gkhi_batch_fail(b, -EINVAL, value);
}

static int gkhi_option_target(struct gkhi_batch *b, const struct gkhi_word *value, struct gkhi_channel_config *c)
{
	if (value->len && value->len < sizeof(c->target)) {
		memset(c->target, 0, sizeof(c->target));
		memcpy(c->target, value->s, value->len);
		return 0;
	}
	gkhi_say(b, "target ");
	gkhi_say_word(b, value);
	gkhi_hint(b, "wanted stderr, syslog or the path of a file, at most 159 bytes");
	return gkhi_batch_fail(b, -EINVAL, value);
}

static int gkhi_option_rate(struct gkhi_batch *b, const struct gkhi_word *value, struct gkhi_channel_config *c)
{
	uint64_t n;

	if (gkhi_word_number(value, UINT32_MAX, &n)) {
		c->rate = (uint32_t)n;
		return 0;
	}
	gkhi_say(b, "rate ");
	gkhi_say_word(b, value);
	gkhi_hint(b, "wanted messages per second, 0 for all");
	return gkhi_batch_fail(b, -EINVAL, value);
}

static int gkhi_option_unknown(struct gkhi_batch *b, const struct gkhi_word *option)
{
	const char *equals = memchr(option->s, '=', option->len);
	struct gkhi_word name = *option;
	struct gkhi_nearest nearest = { .word = &name };
	const char *const *at;

	if (equals)
		name.len = (uint32_t)(equals - option->s);
	gkhi_say(b, equals ? "no option " : "no value in option ");
	gkhi_say_word(b, &name);
	gkhi_hint(b, "wanted ");
	for (at = gkhi_options; *at; at++) {
		gkhi_hint(b, *at);
		gkhi_hint(b, at[1] ? "=, " : "=");
		gkhi_nearest_try(&nearest, *at, strlen(*at));
	}
	gkhi_hint_nearest(b, &nearest);
	return gkhi_batch_fail(b, -EINVAL, &name);
}

int gkhi_option(struct gkhi_batch *b, const struct gkhi_word *w, struct gkhi_channel_config *c, struct gkhi_word *mode)
{
	const char *equals = memchr(w->s, '=', w->len);
	struct gkhi_word value = gkhi_word_rest(w, equals ? (uint32_t)(equals + 1 - w->s) : w->len);

	if (gkhi_word_starts(w, "backend="))
		return gkhi_option_backend(b, &value, c);
	if (gkhi_word_starts(w, "mode=")) {
		*mode = value;	/* its names are the backend's, which may come later */
		return 0;
	}
	if (gkhi_word_starts(w, "subbuf_size="))
		return gkhi_option_subbuf_size(b, &value, &c->subbuf_size);
	if (gkhi_word_starts(w, "n_subbufs="))
		return gkhi_option_n_subbufs(b, &value, &c->n_subbufs);
	if (gkhi_word_starts(w, "stream="))
		return gkhi_option_choice(b, "stream class", &value, gkhi_streams, &c->stream_class);
	if (gkhi_word_starts(w, "target="))
		return gkhi_option_target(b, &value, c);
	if (gkhi_word_starts(w, "rate="))
		return gkhi_option_rate(b, &value, c);
	return gkhi_option_unknown(b, w);
}

int gkhi_option_mode(struct gkhi_batch *b, const struct gkhi_word *mode, struct gkhi_channel_config *c)
{
	if (!strcmp(c->backend, "ring"))
		return gkhi_option_choice(b, "mode of a ring", mode, gkhi_ring_modes, &c->mode);
	if (!strcmp(c->backend, "relay"))
		return gkhi_option_choice(b, "mode of a relay", mode, gkhi_relay_modes, &c->mode);
	gkhi_say(b, "backend ");
	gkhi_say(b, c->backend);
	gkhi_say(b, " has no modes");
	return gkhi_batch_fail(b, -EINVAL, mode);
}
