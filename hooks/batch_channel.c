// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * batch_channel.c - the channels of a batch: made, named, taken away. What a batch
 * makes is opened before anything is switched and listed only when the batch is
 * done; what it takes away is closed at its very end.
 */
#include "batch.h"

/* ------------------------------------------------------------------------ names */

static bool gkhi_channel_name_ok(const struct gkhi_word *w)
{
	static const char more[] = "_-.";
	uint32_t i;

	if (!w->len || w->len >= sizeof(((struct gkhi_channel_config *)0)->name) || w->s[0] == '-' || w->s[0] == '.')
		return false;
	for (i = 0; i < w->len; i++) {
		char c = w->s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!letter && !memchr(more, c, sizeof(more) - 1))
			return false;
	}
	return true;
}

static int gkhi_channel_name_bad(struct gkhi_batch *b, const struct gkhi_word *w)
{
	gkhi_say(b, "no name for a channel: ");
	gkhi_say_word(b, w);
	gkhi_hint(b, "wanted at most 31 letters, digits, '_', '-' and '.', a letter or digit first");
	return gkhi_batch_fail(b, -EINVAL, w);
}

static struct gkhi_made_channel *gkhi_made_find(struct gkhi_batch *b, const struct gkhi_word *w)
{
	uint32_t i;

	for (i = 0; i < b->n_made; i++) {
		if (gkhi_word_is(w, b->made[i].channel->config.name))
			return &b->made[i];
	}
	return NULL;
}

static bool gkhi_is_gone(const struct gkhi_batch *b, const struct gkhi_channel *ch)
{
	uint32_t i;

	for (i = 0; i < b->n_gone; i++) {
		if (b->gone[i].channel == ch)
			return true;
	}
	return false;
}

static uint32_t gkhi_n_channels(const struct gkhi_batch *b)
{
	const struct gkhi_channel *ch;
	uint32_t n = b->n_made;

	for (ch = gkhi_core.channels; ch; ch = ch->next)
		n++;
	return n;
}

static int gkhi_make_channel(struct gkhi_batch *b, const struct gkhi_channel_config *config, const struct gkhi_word *w,
			     struct gkhi_channel **ch)
{
	if (gkhi_n_channels(b) >= GKHI_CHANNELS_MAX) {
		gkhi_say(b, "no more than 32 channels");
		return gkhi_batch_fail(b, -E2BIG, w);
	}
	if (!gkhi_backend_find(config->backend)) {
		gkhi_say(b, "no backend '");
		gkhi_say(b, config->backend);
		gkhi_say(b, "'");
		gkhi_hint(b, "its module is not loaded");
		return gkhi_batch_fail(b, -ENODEV, w);
	}
	*ch = gkhi_channel_new(config);
	if (!*ch) {
		gkhi_say(b, "out of memory");
		return gkhi_batch_fail(b, -ENOMEM, w);
	}
	b->made[b->n_made].channel = *ch;
	b->made[b->n_made++].word = *w;
	return 0;
}

/* --------------------------------------------------------------------- statement */

static int gkhi_channel_remove(struct gkhi_batch *b, const struct gkhi_word *name)
{
	struct gkhi_channel *ch = gkhi_channel_find(name->s, name->len);
	struct gkhi_nearest nearest = { .word = name };

	if (ch && !gkhi_is_gone(b, ch)) {
		b->gone[b->n_gone].channel = ch;
		b->gone[b->n_gone++].word = *name;
		return 0;
	}
	if (gkhi_made_find(b, name)) {
		gkhi_say(b, "channel ");
		gkhi_say_word(b, name);
		gkhi_say(b, " is made by this very batch");
		return gkhi_batch_fail(b, -EINVAL, name);
	}
	gkhi_say(b, "no channel ");
	gkhi_say_word(b, name);
	for (ch = gkhi_core.channels; ch; ch = ch->next)
		gkhi_nearest_try(&nearest, ch->config.name, strlen(ch->config.name));
	gkhi_hint_nearest(b, &nearest);
	return gkhi_batch_fail(b, -ENOENT, name);
}

/* There is one of that name: fine if it is the same, else it must go first. */
static int gkhi_channel_again(struct gkhi_batch *b, const struct gkhi_channel *ch,
			      const struct gkhi_channel_config *config, const struct gkhi_word *name)
{
	if (gkhi_channel_same(&ch->config, config) && !gkhi_is_gone(b, ch))
		return 0;
	gkhi_say(b, "channel ");
	gkhi_say_word(b, name);
	if (gkhi_is_gone(b, ch)) {
		gkhi_say(b, " is removed by this very batch");
		return gkhi_batch_fail(b, -EBUSY, name);
	}
	gkhi_say(b, " is there already, with other options");
	gkhi_hint(b, "move its hooks, remove it with 'channel ");
	gkhi_text_mem(&b->hint, name->s, name->len);
	gkhi_hint(b, " -', then make it anew; or choose another name");
	return gkhi_batch_fail(b, -EBUSY, name);
}

static int gkhi_channel_check(struct gkhi_batch *b, const struct gkhi_channel_config *c, const struct gkhi_word *name)
{
	if ((uint64_t)c->subbuf_size * c->n_subbufs < GKHI_RING_DATA_MAX)
		return 0;
	gkhi_say(b, "channel ");
	gkhi_say_word(b, name);
	gkhi_say(b, " would be too large");
	gkhi_hint(b, "wanted subbuf_size * n_subbufs below 4G");
	return gkhi_batch_fail(b, -E2BIG, name);
}

static int gkhi_channel_declare(struct gkhi_batch *b, const struct gkhi_word *name,
				const struct gkhi_channel_config *config)
{
	struct gkhi_channel *ch = gkhi_channel_find(name->s, name->len);
	struct gkhi_made_channel *made = gkhi_made_find(b, name);

	if (b->flags & GKHI_BATCH_FRESH)
		return 0;	/* done when the batch ran first */
	if (!ch && made)
		ch = made->channel;
	return ch ? gkhi_channel_again(b, ch, config, name) : gkhi_make_channel(b, config, name, &ch);
}

int gkhi_channel_statement(struct gkhi_batch *b, const struct gkhi_word *keyword)
{
	struct gkhi_channel_config config;
	struct gkhi_word name, w, mode = { NULL, 0, 0 };
	bool options = false;
	int err = 0;

	if (!gkhi_batch_word(b, &name)) {
		gkhi_say(b, "a channel statement without a name");
		gkhi_hint(b, "wanted channel NAME [option=value ...] or channel NAME -");
		return gkhi_batch_fail(b, -EINVAL, keyword);
	}
	if (!gkhi_channel_name_ok(&name))
		return gkhi_channel_name_bad(b, &name);
	gkhi_channel_defaults(&config, name.s, name.len);
	for (; !err && gkhi_batch_word(b, &w); options = true) {
		if (!options && gkhi_word_is(&w, "-")) {
			if (!gkhi_batch_word(b, &w))
				return b->flags & GKHI_BATCH_FRESH ? 0 : gkhi_channel_remove(b, &name);
			gkhi_say(b, "nothing can follow '-' here");
			return gkhi_batch_fail(b, -EINVAL, &w);
		}
		err = gkhi_option(b, &w, &config, &mode);
	}
	if (!err && mode.s)
		err = gkhi_option_mode(b, &mode, &config);
	if (!err)
		err = gkhi_channel_check(b, &config, &name);
	return err ? err : gkhi_channel_declare(b, &name, &config);
}

/* ---------------------------------------------------------------------- channel= */

static int gkhi_no_channel(struct gkhi_batch *b, const struct gkhi_word *name)
{
	struct gkhi_nearest nearest = { .word = name };
	struct gkhi_channel *ch;
	uint32_t i;

	gkhi_say(b, "no channel ");
	gkhi_say_word(b, name);
	gkhi_nearest_try(&nearest, "main", 4);
	for (ch = gkhi_core.channels; ch; ch = ch->next)
		gkhi_nearest_try(&nearest, ch->config.name, strlen(ch->config.name));
	for (i = 0; i < b->n_made; i++)
		gkhi_nearest_try(&nearest, b->made[i].channel->config.name, strlen(b->made[i].channel->config.name));
	gkhi_hint(b, "make it with 'channel ");
	gkhi_text_mem(&b->hint, name->s, name->len);
	gkhi_hint(b, "'");
	gkhi_hint_nearest(b, &nearest);
	return gkhi_batch_fail(b, -ENOENT, name);
}

/* @lazy: make it with the defaults when there is none. */
static int gkhi_named_channel(struct gkhi_batch *b, const struct gkhi_word *name, const struct gkhi_word *w, bool lazy,
			      struct gkhi_channel **ch)
{
	struct gkhi_made_channel *made;
	struct gkhi_channel_config config;

	*ch = gkhi_channel_find(name->s, name->len);
	if (*ch && gkhi_is_gone(b, *ch)) {
		gkhi_say(b, "channel ");
		gkhi_say_word(b, name);
		gkhi_say(b, " is removed by this very batch");
		return gkhi_batch_fail(b, -EBUSY, w);
	}
	if (*ch)
		return 0;
	made = gkhi_made_find(b, name);
	if (made) {
		*ch = made->channel;
		return 0;
	}
	if (!lazy && !gkhi_word_is(name, "main"))
		return gkhi_no_channel(b, name);
	gkhi_channel_defaults(&config, name->s, name->len);
	return gkhi_make_channel(b, &config, w, ch);
}

static int gkhi_routing_of(struct gkhi_batch *b, struct gkhi_channel *const *channel, uint32_t n,
			   const struct gkhi_word *w, struct gkhi_routing **routing)
{
	*routing = gkhi_routing_get(channel, n);
	if (*routing)
		return 0;
	gkhi_say(b, "out of memory");
	return gkhi_batch_fail(b, -ENOMEM, w);
}

int gkhi_batch_routing(struct gkhi_batch *b, const struct gkhi_word *names, struct gkhi_routing **routing)
{
	struct gkhi_channel *channel[GKHI_HOOK_CHANNELS];
	struct gkhi_word rest = *names, name;
	uint32_t i, n = 0;
	int err;

	for (;;) {
		const char *comma = memchr(rest.s, ',', rest.len);

		name = rest;
		name.len = comma ? (uint32_t)(comma - rest.s) : rest.len;
		if (!gkhi_channel_name_ok(&name))
			return gkhi_channel_name_bad(b, &name);
		if (n == GKHI_HOOK_CHANNELS) {
			gkhi_say(b, "a hook has at most 8 channels");
			return gkhi_batch_fail(b, -E2BIG, &name);
		}
		err = gkhi_named_channel(b, &name, &name, false, &channel[n]);
		if (err)
			return err;
		for (i = 0; i < n; i++) {
			if (channel[i] == channel[n]) {
				gkhi_say(b, "channel twice: ");
				gkhi_say_word(b, &name);
				return gkhi_batch_fail(b, -EINVAL, &name);
			}
		}
		n++;
		if (!comma)
			break;
		rest = gkhi_word_rest(&rest, name.len + 1);
	}
	return gkhi_routing_of(b, channel, n, names, routing);
}

/* Where the hook's declaration sends it; @w is what turned it on. */
int gkhi_batch_default_routing(struct gkhi_batch *b, const struct gkhi_hook_entry *e, const struct gkhi_word *w,
			       struct gkhi_routing **routing)
{
	const char *declared = e->event ? e->event->default_channel : NULL;
	struct gkhi_word name = { declared && *declared ? declared : "main", 0, w->at };
	struct gkhi_channel *ch;
	int err;

	name.len = (uint32_t)strlen(name.s);
	if (!gkhi_channel_name_ok(&name)) {
		name.s = "main";
		name.len = 4;
	}
	err = gkhi_named_channel(b, &name, w, true, &ch);
	return err ? err : gkhi_routing_of(b, &ch, 1, w, routing);
}

/* -------------------------------------------------------------------- in the end */

int gkhi_batch_open_channels(struct gkhi_batch *b)
{
	uint32_t i;

	for (i = 0; i < b->n_made; i++) {
		struct gkhi_channel *ch = b->made[i].channel;
		int err = gkhi_channel_start(ch);

		if (!err)
			continue;
		gkhi_say(b, "channel '");
		gkhi_say(b, ch->config.name);
		gkhi_say(b, "' could not be opened");
		gkhi_hint_errno(b, err);
		return gkhi_batch_fail(b, err, &b->made[i].word);
	}
	return 0;
}

static bool gkhi_routing_has(const struct gkhi_routing *r, const struct gkhi_channel *ch)
{
	uint32_t i;

	for (i = 0; r && i < r->n; i++) {
		if (r->channel[i] == ch)
			return true;
	}
	return false;
}

/* A channel goes when no hook that is on goes there; those that are off forget it. */
static int gkhi_gone_check(struct gkhi_batch *b, const struct gkhi_made_channel *gone)
{
	uint32_t i, users = 0;

	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = gkhi_core.entry[i];
		const struct gkhi_routing *r = e->planned ? e->plan_routing : e->routing;
		uint8_t state = e->planned ? e->plan_state : e->state;

		if (!gkhi_routing_has(r, gone->channel))
			continue;
		if (state != GKHI_DISABLED) {
			users++;
			continue;
		}
		gkhi_plan(e);
		e->plan_routing = NULL;
	}
	if (!users && !(gone->channel->flags & GKHI_CHANNEL_CLIENT))
		return 0;
	gkhi_say(b, "channel ");
	gkhi_say_word(b, &gone->word);
	gkhi_say(b, " is in use by ");
	if (gone->channel->flags & GKHI_CHANNEL_CLIENT)
		gkhi_say(b, users ? "the program itself and by " : "the program itself");
	if (users) {
		gkhi_text_num(&b->message, users);
		gkhi_say(b, users == 1 ? " hook" : " hooks");
	}
	if (users)
		gkhi_hint(b, "turn them off or send them elsewhere with 'channel=NAME' first, or in the same batch");
	return gkhi_batch_fail(b, -EBUSY, &gone->word);
}

int gkhi_batch_check_gone(struct gkhi_batch *b)
{
	uint32_t i;
	int err = 0;

	if (b->n_gone && gkhi_plan_reserve(gkhi_core.n_entries)) {
		gkhi_say(b, "out of memory");
		return gkhi_batch_fail(b, -ENOMEM, NULL);
	}
	for (i = 0; i < b->n_gone && !err; i++)
		err = gkhi_gone_check(b, &b->gone[i]);
	return err;
}

/* Done: what was made is listed, what was taken away is closed, unless somebody may still be on the way to it. */
void gkhi_batch_keep_channels(struct gkhi_batch *b, bool grace)
{
	uint32_t i;

	for (i = 0; i < b->n_made; i++)
		gkhi_channel_list(b->made[i].channel);
	for (i = 0; i < b->n_gone; i++) {
		gkhi_channel_unlist(b->gone[i].channel);
		if (!grace)
			continue;
		gkhi_channel_stop(b->gone[i].channel);
		gkhi_channel_free(b->gone[i].channel);
	}
}

void gkhi_batch_drop_channels(struct gkhi_batch *b)
{
	uint32_t i;

	for (i = 0; i < b->n_made; i++) {
		gkhi_channel_stop(b->made[i].channel);
		gkhi_channel_free(b->made[i].channel);
	}
}
