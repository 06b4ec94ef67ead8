// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* text_out.c - put a text together without stdio; what does not fit is cut off. */
#include "internal.h"

void gkhi_text_mem(struct gkhi_text *t, const char *s, size_t n)
{
	size_t room = t->size ? t->size - 1 - t->len : 0;

	if (n > room)
		n = room;
	if (!t->size)
		return;
	memcpy(t->buf + t->len, s, n);
	t->len += n;
	t->buf[t->len] = '\0';
}

void gkhi_text_str(struct gkhi_text *t, const char *s)
{
	gkhi_text_mem(t, s, strlen(s));
}

void gkhi_text_num(struct gkhi_text *t, uint64_t n)
{
	char digits[20];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	gkhi_text_mem(t, digits + i, sizeof(digits) - i);
}
