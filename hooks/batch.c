// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * batch.c - run a batch: any number of statements, all or nothing. The grammar is
 * docs/design.md's.
 *
 *   call              context              may run against
 *   gkhi_batch_run    control lock held    dispatch
 *
 * Statements are taken in order and only leave marks: plans on entries, channels
 * not yet listed. When the last one was found good, channels are opened, routes and
 * places for everything got; what can fail has then failed. Then one switch.
 */
#include "batch.h"

/* --------------------------------------------------------------------- a statement */

static int gkhi_statement_state(struct gkhi_batch *b, struct gkhi_statement *st, const struct gkhi_word *name)
{
	static const char *const names[] = { "static", "marker", "on", "disabled", "default", NULL };
	struct gkhi_nearest nearest = { .word = name };
	const char *const *at;
	bool known = gkhi_word_is(name, "-");

	for (at = names; *at; at++) {
		known |= gkhi_word_is(name, *at);
		gkhi_nearest_try(&nearest, *at, strlen(*at));
	}
	if (!known) {
		gkhi_say(b, "no state ");
		gkhi_say_word(b, name);
		gkhi_hint(b, "wanted static, marker, on, disabled or default");
		gkhi_hint_nearest(b, &nearest);
		return gkhi_batch_fail(b, -EINVAL, name);
	}
	if (st->state.s) {
		gkhi_say(b, "a second state in one statement: ");
		gkhi_say_word(b, name);
		return gkhi_batch_fail(b, -EINVAL, name);
	}
	st->state = *name;
	return 0;
}

static int gkhi_statement_channels(struct gkhi_batch *b, struct gkhi_statement *st, const struct gkhi_word *w)
{
	if (st->channels.s) {
		gkhi_say(b, "a second 'channel=' in one statement");
		gkhi_hint(b, "several channels are written channel=a,b");
		return gkhi_batch_fail(b, -EINVAL, w);
	}
	st->channels = gkhi_word_rest(w, sizeof("channel=") - 1);
	return 0;
}

static int gkhi_statement_pattern(struct gkhi_batch *b, struct gkhi_statement *st, const struct gkhi_word *w)
{
	if (st->n_patterns == GKHI_SELECTORS_MAX) {
		gkhi_say(b, "more than 48 patterns in one statement");
		return gkhi_batch_fail(b, -E2BIG, w);
	}
	st->pattern[st->n_patterns++] = *w;
	return 0;
}

static int gkhi_statement_line(struct gkhi_batch *b, struct gkhi_statement *st, const struct gkhi_word *w)
{
	const char *dash = memchr(w->s, '-', w->len);
	struct gkhi_word from = *w, to = *w;
	uint64_t first = 0, last = 0;

	if (dash) {
		from.len = (uint32_t)(dash - w->s);
		to = gkhi_word_rest(w, from.len + 1);
	}
	if (!gkhi_word_number(&from, UINT32_MAX, &first) || !gkhi_word_number(&to, UINT32_MAX, &last) || first > last) {
		gkhi_say(b, "no line ");
		gkhi_say_word(b, w);
		gkhi_hint(b, "wanted a number, or first-last");
		return gkhi_batch_fail(b, -EINVAL, w);
	}
	st->line_from = (uint32_t)first;
	st->line_to = (uint32_t)last;
	return 0;
}

static const char *const gkhi_filters[GKHI_N_FILTERS] = { "file", "func", "module", "line" };

/* A keyword of a filter, with the word behind it. -1: it is none. */
static int gkhi_filter_of(const struct gkhi_word *w)
{
	int i;

	for (i = 0; i < GKHI_N_FILTERS; i++) {
		if (gkhi_word_is(w, gkhi_filters[i]))
			return i;
	}
	return -1;
}

static int gkhi_statement_filter(struct gkhi_batch *b, struct gkhi_statement *st, const struct gkhi_word *w, int which)
{
	struct gkhi_word value;

	if (!gkhi_batch_word(b, &value)) {
		gkhi_say_word(b, w);
		gkhi_say(b, " without a value");
		gkhi_hint(b, "wanted file GLOB, func GLOB, module GLOB or line N[-M]");
		return gkhi_batch_fail(b, -EINVAL, w);
	}
	if (st->filter[which].s) {
		gkhi_say(b, "a second ");
		gkhi_say_word(b, w);
		gkhi_say(b, " in one statement");
		return gkhi_batch_fail(b, -EINVAL, w);
	}
	st->filter[which] = value;
	return which == GKHI_FILTER_LINE ? gkhi_statement_line(b, st, &value) : 0;
}

/* PATTERN=STATE */
static int gkhi_statement_short(struct gkhi_batch *b, struct gkhi_statement *st, const struct gkhi_word *w, uint32_t n)
{
	struct gkhi_word pattern = *w, state = gkhi_word_rest(w, n + 1);
	int err;

	pattern.len = n;
	if (!n) {
		gkhi_say(b, "no pattern in front of '='");
		return gkhi_batch_fail(b, -EINVAL, w);
	}
	err = gkhi_statement_pattern(b, st, &pattern);
	return err ? err : gkhi_statement_state(b, st, &state);
}

static int gkhi_statement_word(struct gkhi_batch *b, struct gkhi_statement *st, const struct gkhi_word *w)
{
	const char *equals = memchr(w->s, '=', w->len);
	int filter = gkhi_filter_of(w);
	struct gkhi_word state;

	if (filter >= 0)
		return gkhi_statement_filter(b, st, w, filter);
	if (gkhi_word_is(w, "-"))
		return gkhi_statement_state(b, st, w);
	if (w->s[0] == '+') {
		state = gkhi_word_rest(w, 1);
		return gkhi_statement_state(b, st, &state);
	}
	if (gkhi_word_starts(w, "channel="))
		return gkhi_statement_channels(b, st, w);
	if (w->s[0] == '-') {
		gkhi_say(b, "no action ");
		gkhi_say_word(b, w);
		gkhi_hint(b, "wanted '-' alone, +static, +marker, +on, +disabled, +default or channel=NAME");
		return gkhi_batch_fail(b, -EINVAL, w);
	}
	return equals ? gkhi_statement_short(b, st, w, (uint32_t)(equals - w->s)) : gkhi_statement_pattern(b, st, w);
}

static bool gkhi_statement_selects(const struct gkhi_statement *st)
{
	unsigned int i;

	for (i = 0; i < GKHI_N_FILTERS; i++) {
		if (st->filter[i].s)
			return true;
	}
	return st->n_patterns != 0;
}

/* --------------------------------------------------------------------------- plan */

static int gkhi_plan_default(struct gkhi_batch *b, struct gkhi_hook_entry *e, const struct gkhi_word *w)
{
	e->plan_state = e->event ? e->event->default_state : GKHI_DISABLED;
	return gkhi_batch_default_routing(b, e, w, &e->plan_routing);
}

/* On, by whatever is compiled in: static where there is a call, else the marker. */
static enum gkhi_state gkhi_on_state(const struct gkhi_hook_entry *e)
{
	bool bare = e->n_bare && !(e->n_keys + e->n_loads);

	if (!(e->states & GKHI_HAS_MARKER))
		return GKHI_STATIC;
	return e->states & GKHI_HAS_STATIC && !bare ? GKHI_STATIC : GKHI_MARKER;
}

/* Of a statement's state, but default: the same for all of its hooks, or by each. */
static enum gkhi_state gkhi_state_of(const struct gkhi_word *name, bool *by_hook)
{
	*by_hook = gkhi_word_is(name, "on");
	if (*by_hook || gkhi_word_is(name, "static"))
		return GKHI_STATIC;
	return gkhi_word_is(name, "marker") ? GKHI_MARKER : GKHI_DISABLED;
}

static int gkhi_plan_statement(struct gkhi_batch *b, const struct gkhi_statement *st, struct gkhi_routing *routing)
{
	bool to_default = st->state.s && gkhi_word_is(&st->state, "default");
	bool by_hook = false;
	enum gkhi_state state = st->state.s ? gkhi_state_of(&st->state, &by_hook) : GKHI_DISABLED;
	uint32_t i;
	int err = 0;

	for (i = 0; i < b->n_selected && !err; i++) {
		struct gkhi_hook_entry *e = b->selected[i];

		gkhi_plan(e);
		if (to_default)
			err = gkhi_plan_default(b, e, &st->state);
		else if (st->state.s)
			e->plan_state = (uint8_t)(by_hook ? gkhi_on_state(e) : state);
		if (routing)
			e->plan_routing = routing;
		else if (!err && e->plan_state != GKHI_DISABLED && !e->plan_routing)
			err = gkhi_batch_default_routing(b, e, &st->first, &e->plan_routing);
	}
	return err;
}

static int gkhi_statement_do(struct gkhi_batch *b, const struct gkhi_statement *st)
{
	struct gkhi_routing *routing = NULL;
	int err = 0;

	if (!st->state.s && !st->channels.s) {
		gkhi_say(b, "nothing to do with these hooks");
		gkhi_hint(b, "wanted +static, +marker, +on, +disabled, +default, - or channel=NAME");
		return gkhi_batch_fail(b, -EINVAL, &st->first);
	}
	if (gkhi_statement_selects(st))
		err = gkhi_select(b, st);
	else if (!b->has_selection) {
		gkhi_say(b, "no hooks are named");
		gkhi_hint(b, "wanted PROVIDER:EVENT in front, globs are allowed; '*' is all");
		err = gkhi_batch_fail(b, -EINVAL, &st->first);
	}
	if (!err && st->channels.s)
		err = gkhi_batch_routing(b, &st->channels, &routing);
	if (!err && gkhi_plan_reserve(gkhi_core.n_entries)) {
		gkhi_say(b, "out of memory");
		err = gkhi_batch_fail(b, -ENOMEM, NULL);
	}
	b->any_hooks = true;
	return err ? err : gkhi_plan_statement(b, st, routing);
}

static int gkhi_statement(struct gkhi_batch *b)
{
	struct gkhi_statement st;
	struct gkhi_word w;
	int err = 0;

	if (!gkhi_batch_word(b, &w))
		return 0;
	if (gkhi_word_is(&w, "channel"))
		return gkhi_channel_statement(b, &w);
	memset(&st, 0, sizeof(st));
	st.first = w;
	do {
		err = gkhi_statement_word(b, &st, &w);
	} while (!err && gkhi_batch_word(b, &w));
	return err ? err : gkhi_statement_do(b, &st);
}

/* ---------------------------------------------------------------------------- run */

static int gkhi_batch_no_memory(struct gkhi_batch *b, int err)
{
	gkhi_say(b, err == -ENOMEM ? "out of memory" : "the metadata could not be written");
	if (err != -ENOMEM)
		gkhi_hint_errno(b, err);
	return gkhi_batch_fail(b, err, NULL);
}

static int gkhi_batch_parse(struct gkhi_batch *b)
{
	int err = 0;

	while (!err && b->at < b->len) {
		err = gkhi_statement(b);
		b->at++;	/* over what ended the statement */
	}
	return err;
}

/* Keep the text for objects that come later. */
static int gkhi_batch_remember(struct gkhi_batch *b)
{
	struct gkhi_later *later, **at;

	if (!(b->flags & GKHI_BATCH_LATER) || b->flags & GKHI_BATCH_FRESH || !b->any_hooks)
		return 0;
	later = port_alloc(sizeof(*later) + b->len);
	if (!later)
		return -ENOMEM;
	later->len = b->len;
	memcpy(later->text, b->text, b->len);
	for (at = &gkhi_core.later; *at; at = &(*at)->next)
		;
	*at = later;
	return 0;
}

static int gkhi_batch_prepare(struct gkhi_batch *b)
{
	int err = gkhi_batch_parse(b);

	if (!err)
		err = gkhi_batch_check_gone(b);
	if (!err)
		err = gkhi_batch_open_channels(b);
	if (err)
		return err;
	err = gkhi_plan_prepare();
	if (!err)
		err = gkhi_batch_remember(b);
	return err ? gkhi_batch_no_memory(b, err) : 0;
}

static void gkhi_batch_begin(struct gkhi_batch *b, const char *text, size_t len, unsigned int flags, char *error,
			     size_t error_size)
{
	memset(b, 0, sizeof(*b));
	b->text = text;
	b->len = (uint32_t)len;
	b->flags = flags;
	b->error.buf = error;
	b->error.size = error_size;
	b->message.buf = b->message_room;
	b->message.size = sizeof(b->message_room);
	b->hint.buf = b->hint_room;
	b->hint.size = sizeof(b->hint_room);
	if (error_size)
		error[0] = '\0';
}

static void gkhi_batch_end(struct gkhi_batch *b)
{
	uint32_t i;

	for (i = 0; i < b->n_selected; i++)
		b->selected[i]->selected = false;
	port_free(b->selected, b->capacity * sizeof(*b->selected));
}

static int gkhi_batch_do(struct gkhi_batch *b)
{
	int err = gkhi_batch_prepare(b);
	bool grace;

	if (err) {
		gkhi_plan_forget();
		gkhi_routings_trim();	/* those that name channels which go now */
		gkhi_batch_drop_channels(b);
		gkhi_batch_end(b);
		return err;
	}
	grace = !(gkhi_set.n ? gkhi_plan_commit() : port_synchronize());
	if (grace)
		gkhi_routings_trim();
	gkhi_batch_keep_channels(b, grace);
	gkhi_batch_end(b);
	port_channels_changed();
	return 0;
}

/* Too large for a kernel's stack. Control lock held; batches do not nest. */
static struct gkhi_batch gkhi_batch;

int gkhi_batch_run(const char *text, size_t len, unsigned int flags, char *error, size_t error_size)
{
	struct gkhi_batch *b = &gkhi_batch;
	const char *why = "";
	int err = port_start(&why);

	gkhi_batch_begin(b, text, len, flags, error, error_size);
	if (err) {
		gkhi_say(b, why);
		return gkhi_batch_fail(b, err, NULL);
	}
	if (len > GKHI_BATCH_MAX) {
		b->len = 0;
		gkhi_say(b, "a batch of more than 16 MiB");
		return gkhi_batch_fail(b, -E2BIG, NULL);
	}
	return gkhi_batch_do(b);
}

void gkhi_batch_fresh(void)
{
	struct gkhi_later *later;
	char error[512];

	for (later = gkhi_core.later; later; later = later->next) {
		gkhi_batch_begin(&gkhi_batch, later->text, later->len, GKHI_BATCH_FRESH, error, sizeof(error));
		if (gkhi_batch_do(&gkhi_batch))
			port_log(error);
	}
}
