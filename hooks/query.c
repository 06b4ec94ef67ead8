// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * query.c - which hooks a statement means: globs over names, and filters over the
 * places where a hook's pads stand.
 *
 * A hook is meant when its name matches one of the patterns and one of its sites
 * matches all filters.
 */
#include "batch.h"

/* ----------------------------------------------------------------------------- glob */

/* A set at @p behind its "[": does it hold @c? @next: behind it; no "]": NULL, the "[" is a plain character. */
static bool gkhi_glob_set(const char *p, const char *pend, char c, const char **next)
{
	bool invert = p < pend && (*p == '!' || *p == '^');
	bool found = false, first = true;

	p += invert;
	for (*next = NULL; p < pend && (first || *p != ']'); first = false) {
		char low = *p, high = low;

		p++;
		if (pend - p >= 2 && *p == '-' && p[1] != ']') {
			high = p[1];
			p += 2;
		}
		found |= (unsigned char)low <= (unsigned char)c && (unsigned char)c <= (unsigned char)high;
	}
	if (p < pend)
		*next = p + 1;
	return found != invert;
}

/* One character of the text against one item of the pattern. */
static bool gkhi_glob_one(const char *p, const char *pend, char c, const char **next)
{
	*next = p + 1;
	if (*p == '?')
		return true;
	if (*p == '[') {
		bool in = gkhi_glob_set(p + 1, pend, c, next);

		if (*next)
			return in;
		*next = p + 1;
	}
	return *p == c;
}

/* "*", "?" and "[a-z!]": a failed match goes back to the last star, never further. */
bool gkhi_glob(const char *pattern, size_t plen, const char *text, size_t tlen)
{
	const char *p = pattern, *pend = pattern + plen;
	const char *t = text, *tend = text + tlen;
	const char *star = NULL, *star_text = NULL;

	while (t < tend) {
		const char *next;

		if (p < pend && *p == '*') {
			star = ++p;
			star_text = t;
		} else if (p < pend && gkhi_glob_one(p, pend, *t, &next)) {
			p = next;
			t++;
		} else if (star) {
			p = star;
			t = ++star_text;
		} else {
			return false;
		}
	}
	while (p < pend && *p == '*')
		p++;
	return p == pend;
}

/* The whole path, or what is behind any of its slashes. */
bool gkhi_glob_path(const char *pattern, size_t plen, const char *path)
{
	while (path) {
		if (gkhi_glob(pattern, plen, path, strlen(path)))
			return true;
		path = strchr(path, '/');
		path = path ? path + 1 : NULL;
	}
	return false;
}

/* ------------------------------------------------------------------------- patterns */

/* A pattern's two halves; without a colon it names providers. */
struct gkhi_pattern {
	struct gkhi_word provider;
	struct gkhi_word event;
	bool all_events;
};

static void gkhi_pattern_split(const struct gkhi_word *w, struct gkhi_pattern *p)
{
	const char *colon = memchr(w->s, ':', w->len);

	p->provider = *w;
	p->event = *w;
	p->all_events = !colon;
	if (!colon)
		return;
	p->provider.len = (uint32_t)(colon - w->s);
	p->event = gkhi_word_rest(w, p->provider.len + 1);
	p->all_events = gkhi_word_is(&p->event, "*");
}

static uint32_t gkhi_match_providers(const struct gkhi_pattern *p)
{
	struct gkhi_provider *provider;
	uint32_t n = 0;

	for (provider = gkhi_core.providers; provider; provider = provider->next) {
		provider->match = gkhi_glob(p->provider.s, p->provider.len, provider->name, provider->len);
		n += provider->match;
	}
	return n;
}

static void gkhi_select_entry(struct gkhi_batch *b, struct gkhi_hook_entry *e)
{
	if (e->selected)
		return;
	e->selected = true;
	b->selected[b->n_selected++] = e;
}

static bool gkhi_pattern_event(const struct gkhi_pattern *p, const struct gkhi_hook_entry *e)
{
	size_t skip = e->provider->len + 1u;

	return p->all_events || gkhi_glob(p->event.s, p->event.len, e->name + skip, e->name_len - skip);
}

static bool gkhi_has_wildcard(const struct gkhi_word *w)
{
	return memchr(w->s, '*', w->len) || memchr(w->s, '?', w->len) || memchr(w->s, '[', w->len);
}

static int gkhi_no_provider(struct gkhi_batch *b, const struct gkhi_pattern *p)
{
	struct gkhi_nearest nearest = { .word = &p->provider };
	const struct gkhi_provider *provider;

	gkhi_say(b, "no provider ");
	gkhi_say_word(b, &p->provider);
	for (provider = gkhi_core.providers; provider; provider = provider->next)
		gkhi_nearest_try(&nearest, provider->name, provider->len);
	if (!gkhi_core.n_entries)
		gkhi_hint(b, "there are no hooks at all");
	else if (!gkhi_has_wildcard(&p->provider))
		gkhi_hint_nearest(b, &nearest);
	return gkhi_batch_fail(b, -ENOENT, &p->provider);
}

static int gkhi_no_event(struct gkhi_batch *b, const struct gkhi_pattern *p, const struct gkhi_word *whole)
{
	struct gkhi_nearest nearest = { .word = &p->event };
	uint32_t i;

	gkhi_say(b, "no hook ");
	gkhi_say_word(b, whole);
	for (i = 0; i < gkhi_core.n_entries && !gkhi_has_wildcard(&p->event); i++) {
		const struct gkhi_hook_entry *e = gkhi_core.entry[i];
		const char *event = gkhi_entry_event_name(e);

		if (e->provider->match)
			gkhi_nearest_try(&nearest, event, strlen(event));
	}
	gkhi_hint_nearest(b, &nearest);
	return gkhi_batch_fail(b, -ENOENT, &p->event);
}

static int gkhi_select_pattern(struct gkhi_batch *b, const struct gkhi_word *w)
{
	struct gkhi_pattern p;
	bool found = b->flags & (GKHI_BATCH_LATER | GKHI_BATCH_FRESH);
	uint32_t i;

	gkhi_pattern_split(w, &p);
	if (!gkhi_match_providers(&p))
		return found ? 0 : gkhi_no_provider(b, &p);
	for (i = 0; i < gkhi_core.n_entries; i++) {
		struct gkhi_hook_entry *e = gkhi_core.entry[i];

		if (!e->provider->match || (b->flags & GKHI_BATCH_FRESH && !e->fresh))
			continue;
		if (!gkhi_pattern_event(&p, e))
			continue;
		found = true;
		gkhi_select_entry(b, e);
	}
	return found ? 0 : gkhi_no_event(b, &p, w);
}

/* -------------------------------------------------------------------------- filters */

static const char *gkhi_site_module(const struct gkhi_site *s)
{
	const struct gkhi_object *o;

	for (o = gkhi_core.objects; o; o = o->next) {
		if (s >= o->sites && s < o->sites + o->n_sites)
			return port_module_name(&o->module);
	}
	return "";
}

static bool gkhi_site_meant(const struct gkhi_statement *st, const struct gkhi_site *s)
{
	const struct gkhi_word *f = st->filter;

	if (f[GKHI_FILTER_MODULE].s &&
	    !gkhi_glob_path(f[GKHI_FILTER_MODULE].s, f[GKHI_FILTER_MODULE].len, gkhi_site_module(s)))
		return false;
	if (!f[GKHI_FILTER_FILE].s && !f[GKHI_FILTER_FUNC].s && !f[GKHI_FILTER_LINE].s)
		return true;
	if (!s->record)
		return false;	/* a key: its pad's record knows where it stands */
	if (f[GKHI_FILTER_FILE].s &&
	    !gkhi_glob_path(f[GKHI_FILTER_FILE].s, f[GKHI_FILTER_FILE].len, gkhi_record_file(s->record)))
		return false;
	if (f[GKHI_FILTER_LINE].s && (s->record->line < st->line_from || s->record->line > st->line_to))
		return false;
	if (f[GKHI_FILTER_FUNC].s) {	/* last: it may have to look into the object's file */
		const char *function = port_site_function(s->record, s->code);

		return gkhi_glob(f[GKHI_FILTER_FUNC].s, f[GKHI_FILTER_FUNC].len, function, strlen(function));
	}
	return true;
}

static bool gkhi_entry_meant(const struct gkhi_statement *st, const struct gkhi_hook_entry *e)
{
	const struct gkhi_site *s;

	for (s = e->sites; s; s = s->next) {
		if (gkhi_site_meant(st, s))
			return true;
	}
	return false;
}

static const struct gkhi_word *gkhi_any_filter(const struct gkhi_statement *st)
{
	unsigned int i;

	for (i = 0; i < GKHI_N_FILTERS; i++) {
		if (st->filter[i].s)
			return &st->filter[i];
	}
	return NULL;
}

static int gkhi_select_filter(struct gkhi_batch *b, const struct gkhi_statement *st)
{
	const struct gkhi_word *filter = gkhi_any_filter(st);
	uint32_t i, n = 0;

	if (!filter)
		return 0;
	for (i = 0; i < b->n_selected; i++) {
		struct gkhi_hook_entry *e = b->selected[i];

		e->selected = gkhi_entry_meant(st, e);
		if (e->selected)
			b->selected[n++] = e;
	}
	b->n_selected = n;
	if (st->filter[GKHI_FILTER_FUNC].s)
		port_site_functions_done();
	if (n || b->flags & (GKHI_BATCH_LATER | GKHI_BATCH_FRESH))
		return 0;
	gkhi_say(b, "none of these hooks has a site there");
	return gkhi_batch_fail(b, -ENOENT, filter);
}

/* ------------------------------------------------------------------------ together */

static int gkhi_select_room(struct gkhi_batch *b)
{
	if (b->capacity >= gkhi_core.n_entries)
		return 0;
	port_free(b->selected, b->capacity * sizeof(*b->selected));
	b->capacity = 0;
	b->selected = port_alloc(gkhi_core.n_entries * sizeof(*b->selected));
	if (!b->selected)
		return -ENOMEM;
	b->capacity = gkhi_core.n_entries;
	return 0;
}

int gkhi_select(struct gkhi_batch *b, const struct gkhi_statement *st)
{
	uint32_t i;
	int err;

	for (i = 0; i < b->n_selected; i++)
		b->selected[i]->selected = false;
	b->n_selected = 0;
	if (gkhi_select_room(b)) {
		gkhi_say(b, "out of memory");
		return gkhi_batch_fail(b, -ENOMEM, NULL);
	}
	for (i = 0; !st->n_patterns && i < gkhi_core.n_entries; i++) {
		if (!(b->flags & GKHI_BATCH_FRESH) || gkhi_core.entry[i]->fresh)
			gkhi_select_entry(b, gkhi_core.entry[i]);
	}
	for (i = 0; i < st->n_patterns; i++) {
		err = gkhi_select_pattern(b, &st->pattern[i]);
		if (err)
			return err;
	}
	b->has_selection = true;
	return gkhi_select_filter(b, st);
}
