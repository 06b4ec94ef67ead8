// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * batch_error.c - what was wrong with a batch: where, what was found, what was
 * wanted, what may have been meant.
 *
 *   batch:1:11: error: no channel 'flihgt'
 *       netdemo:* channel=flihgt
 *                         ^~~~~~
 *   did you mean 'flight'?
 */
#include "batch.h"

#define GKHI_LINE_MAX	100u	/* of a long line, so much is shown */
#define GKHI_NAME_MAX	63u

void gkhi_say(struct gkhi_batch *b, const char *s)
{
	gkhi_text_str(&b->message, s);
}

static void gkhi_quote(struct gkhi_text *t, const char *s, size_t len)
{
	gkhi_text_str(t, "'");
	gkhi_text_mem(t, s, len);
	gkhi_text_str(t, "'");
}

void gkhi_say_word(struct gkhi_batch *b, const struct gkhi_word *w)
{
	gkhi_quote(&b->message, w->s, w->len);
}

void gkhi_hint(struct gkhi_batch *b, const char *s)
{
	gkhi_text_str(&b->hint, s);
}

void gkhi_hint_errno(struct gkhi_batch *b, int err)
{
	static const struct {
		int err;
		const char *text;
	} known[] = {
		{ -ENOMEM, "out of memory" },	  { -ENOSPC, "no space left where the buffers are" },
		{ -EINVAL, "invalid options" },	  { -EACCES, "permission denied" },
		{ -EPERM, "permission denied" },  { -ENOENT, "no such file or folder" },
		{ -EMFILE, "too many files" },	  { -EROFS, "read-only file system" },
		{ -EEXIST, "its file exists already" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].err == err) {
			gkhi_hint(b, known[i].text);
			return;
		}
	}
	gkhi_hint(b, "error ");
	gkhi_text_num(&b->hint, (uint64_t)-err);
}

/* The line that @at is in. */
static void gkhi_line_of(const struct gkhi_batch *b, uint32_t at, uint32_t *start, uint32_t *stop)
{
	*start = at;
	while (*start > 0 && b->text[*start - 1] != '\n')
		--*start;
	*stop = at;
	while (*stop < b->len && b->text[*stop] != '\n')
		++*stop;
}

static uint32_t gkhi_line_number(const struct gkhi_batch *b, uint32_t at)
{
	uint32_t i, n = 1;

	for (i = 0; i < at; i++)
		n += b->text[i] == '\n';
	return n;
}

/* The line, cut to a window round the word, and the caret below. */
static void gkhi_show_line(struct gkhi_batch *b, const struct gkhi_word *w, uint32_t start, uint32_t stop)
{
	uint32_t i;

	if (w->at - start > GKHI_LINE_MAX / 2)
		start = w->at - GKHI_LINE_MAX / 2;
	if (stop - start > GKHI_LINE_MAX)
		stop = start + GKHI_LINE_MAX;
	gkhi_text_str(&b->error, "\n    ");
	gkhi_text_mem(&b->error, b->text + start, stop - start);
	gkhi_text_str(&b->error, "\n    ");
	for (i = start; i < w->at; i++)
		gkhi_text_mem(&b->error, b->text[i] == '\t' ? "\t" : " ", 1);
	gkhi_text_str(&b->error, "^");
	for (i = 1; i < w->len && w->at + i < stop; i++)
		gkhi_text_str(&b->error, "~");
}

int gkhi_batch_fail(struct gkhi_batch *b, int err, const struct gkhi_word *w)
{
	uint32_t start, stop;

	b->error.len = 0;
	gkhi_text_str(&b->error, "batch:");
	if (w) {
		gkhi_line_of(b, w->at, &start, &stop);
		gkhi_text_num(&b->error, gkhi_line_number(b, w->at));
		gkhi_text_str(&b->error, ":");
		gkhi_text_num(&b->error, w->at - start + 1);
		gkhi_text_str(&b->error, ":");
	}
	gkhi_text_str(&b->error, " error: ");
	gkhi_text_mem(&b->error, b->message.buf, b->message.len);
	if (w)
		gkhi_show_line(b, w, start, stop);
	if (b->hint.len) {
		gkhi_text_str(&b->error, "\n");
		gkhi_text_mem(&b->error, b->hint.buf, b->hint.len);
	}
	return err;
}

/* -------------------------------------------------------------------- nearest name */

static unsigned int gkhi_least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours; 99 for what is too long. */
unsigned int gkhi_distance(const char *a, size_t alen, const char *b, size_t blen)
{
	uint8_t row[3][GKHI_NAME_MAX + 1];
	uint8_t *before = row[0], *above = row[1], *here = row[2];
	size_t i, j;

	if (alen > GKHI_NAME_MAX || blen > GKHI_NAME_MAX)
		return 99;
	for (j = 0; j <= blen; j++)
		above[j] = (uint8_t)j;
	for (i = 1; i <= alen; i++) {
		uint8_t *spare = before;

		here[0] = (uint8_t)i;
		for (j = 1; j <= blen; j++) {
			unsigned int best = above[j - 1] + (a[i - 1] != b[j - 1]);

			best = gkhi_least(best, gkhi_least(above[j], here[j - 1]) + 1u);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = gkhi_least(best, before[j - 2] + 1u);
			here[j] = (uint8_t)best;
		}
		before = above;
		above = here;
		here = spare;
	}
	return above[blen];
}

void gkhi_nearest_try(struct gkhi_nearest *n, const char *name, size_t len)
{
	size_t other = n->word->len;
	unsigned int limit = other < 4 ? 1 : 2 + (unsigned int)other / 8, d;

	if ((other > len ? other - len : len - other) > limit)
		return;
	d = gkhi_distance(n->word->s, other, name, len);
	if (d > limit || (n->name && d >= n->distance))
		return;
	n->name = name;
	n->len = (uint32_t)len;
	n->distance = d;
}

void gkhi_hint_nearest(struct gkhi_batch *b, const struct gkhi_nearest *n)
{
	if (!n->name)
		return;
	gkhi_hint(b, b->hint.len ? "; did you mean " : "did you mean ");
	gkhi_quote(&b->hint, n->name, n->len);
	gkhi_hint(b, "?");
}
