/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * batch.h - a batch at work: what batch.c (statements), batch_word.c, query.c
 * (selectors), batch_channel.c (channel statements), batch_option.c (their options)
 * and batch_error.c share.
 */
#ifndef GKHI_BATCH_H
#define GKHI_BATCH_H

#include "internal.h"

#define GKHI_BATCH_FRESH	0x100	/* only entries that are fresh; channels are there already */

#define GKHI_BATCH_MAX		(16u << 20)
#define GKHI_SELECTORS_MAX	48u
#define GKHI_CHANNELS_MAX	32u

/* A piece of the batch: what an error points at. */
struct gkhi_word {
	const char *s;
	uint32_t len;
	uint32_t at;			/* offset in the batch */
};

struct gkhi_made_channel {
	struct gkhi_channel *channel;
	struct gkhi_word word;
};

enum gkhi_filter {
	GKHI_FILTER_FILE,
	GKHI_FILTER_FUNC,
	GKHI_FILTER_MODULE,
	GKHI_FILTER_LINE,
	GKHI_N_FILTERS,
};

/* What one statement asks for. */
struct gkhi_statement {
	struct gkhi_word pattern[GKHI_SELECTORS_MAX];
	uint32_t n_patterns;
	struct gkhi_word filter[GKHI_N_FILTERS];	/* s NULL: none */
	uint32_t line_from, line_to;
	struct gkhi_word state;		/* the name; s NULL: none */
	struct gkhi_word channels;	/* names with commas */
	struct gkhi_word first;		/* for errors */
};

struct gkhi_batch {
	const char *text;
	uint32_t len;
	uint32_t at;
	unsigned int flags;
	bool any_hooks;			/* a hook statement was there */
	struct gkhi_hook_entry **selected;
	uint32_t n_selected;
	uint32_t capacity;
	bool has_selection;
	struct gkhi_made_channel made[GKHI_CHANNELS_MAX];	/* not listed yet */
	uint32_t n_made;
	struct gkhi_made_channel gone[GKHI_CHANNELS_MAX];	/* to be removed */
	uint32_t n_gone;
	struct gkhi_text error;		/* the caller's */
	struct gkhi_text message;	/* of one error: what */
	struct gkhi_text hint;
	char message_room[240];
	char hint_room[240];
};

/* batch_error.c: write the error about @w out and give @err back. */
int gkhi_batch_fail(struct gkhi_batch *b, int err, const struct gkhi_word *w);
void gkhi_say(struct gkhi_batch *b, const char *s);
void gkhi_say_word(struct gkhi_batch *b, const struct gkhi_word *w);	/* quoted */
void gkhi_hint(struct gkhi_batch *b, const char *s);
void gkhi_hint_errno(struct gkhi_batch *b, int err);

/* Of several names the one nearest to a word, if it is near enough to be what was meant. */
struct gkhi_nearest {
	const struct gkhi_word *word;
	const char *name;
	uint32_t len;
	unsigned int distance;
};

void gkhi_nearest_try(struct gkhi_nearest *n, const char *name, size_t len);
void gkhi_hint_nearest(struct gkhi_batch *b, const struct gkhi_nearest *n);	/* did you mean ...? */

/* batch_word.c */
bool gkhi_word_is(const struct gkhi_word *w, const char *s);
bool gkhi_word_starts(const struct gkhi_word *w, const char *s);
struct gkhi_word gkhi_word_rest(const struct gkhi_word *w, uint32_t skip);
bool gkhi_word_number(const struct gkhi_word *w, uint64_t max, uint64_t *n);
bool gkhi_batch_word(struct gkhi_batch *b, struct gkhi_word *w);	/* the next of the statement, false at its end */

unsigned int gkhi_distance(const char *a, size_t alen, const char *b, size_t blen);

/* query.c */
bool gkhi_glob(const char *pattern, size_t plen, const char *text, size_t tlen);
bool gkhi_glob_path(const char *pattern, size_t plen, const char *path);	/* or what is behind a slash of it */
int gkhi_select(struct gkhi_batch *b, const struct gkhi_statement *st);

/* batch_option.c: one option into @c; a mode, whose names are the backend's that may come later, into @mode */
int gkhi_option(struct gkhi_batch *b, const struct gkhi_word *w, struct gkhi_channel_config *c, struct gkhi_word *mode);
int gkhi_option_mode(struct gkhi_batch *b, const struct gkhi_word *mode, struct gkhi_channel_config *c);
const char *gkhi_mode_name(const char *backend, uint32_t mode);	/* "" where the backend has none */

/* batch_channel.c */
int gkhi_channel_statement(struct gkhi_batch *b, const struct gkhi_word *keyword);
int gkhi_batch_routing(struct gkhi_batch *b, const struct gkhi_word *names, struct gkhi_routing **routing);
int gkhi_batch_default_routing(struct gkhi_batch *b, const struct gkhi_hook_entry *e, const struct gkhi_word *w,
			       struct gkhi_routing **routing);
int gkhi_batch_open_channels(struct gkhi_batch *b);
int gkhi_batch_check_gone(struct gkhi_batch *b);
void gkhi_batch_keep_channels(struct gkhi_batch *b, bool grace);
void gkhi_batch_drop_channels(struct gkhi_batch *b);

#endif
