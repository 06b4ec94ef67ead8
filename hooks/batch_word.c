// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* batch_word.c - a batch as words: where they begin and end, and what they can be compared with. */
#include "batch.h"

bool gkhi_word_is(const struct gkhi_word *w, const char *s)
{
	return strlen(s) == w->len && !memcmp(w->s, s, w->len);
}

bool gkhi_word_starts(const struct gkhi_word *w, const char *s)
{
	size_t n = strlen(s);

	return w->len >= n && !memcmp(w->s, s, n);
}

struct gkhi_word gkhi_word_rest(const struct gkhi_word *w, uint32_t skip)
{
	struct gkhi_word rest = { w->s + skip, w->len - skip, w->at + skip };

	return rest;
}

bool gkhi_word_number(const struct gkhi_word *w, uint64_t max, uint64_t *n)
{
	uint32_t i;

	*n = 0;
	for (i = 0; i < w->len; i++) {
		unsigned int digit = (unsigned int)(w->s[i] - '0');

		if (digit > 9 || *n > (UINT64_MAX - digit) / 10)
			return false;
		*n = *n * 10 + digit;
		if (*n > max)
			return false;
	}
	return w->len != 0;
}

static bool gkhi_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static bool gkhi_ends_statement(char c)
{
	return c == ';' || c == '\n';
}

/* To the next word, over blanks and comments; false at the end of the statement. */
bool gkhi_batch_word(struct gkhi_batch *b, struct gkhi_word *w)
{
	while (b->at < b->len && gkhi_is_blank(b->text[b->at]))
		b->at++;
	if (b->at < b->len && b->text[b->at] == '#') {
		while (b->at < b->len && b->text[b->at] != '\n')
			b->at++;
	}
	w->s = b->text + b->at;
	w->at = b->at;
	w->len = 0;
	while (b->at < b->len && !gkhi_is_blank(b->text[b->at]) && !gkhi_ends_statement(b->text[b->at]))
		b->at++;
	w->len = b->at - w->at;
	return w->len != 0;
}
