/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/utf8.h - what of a text a terminal only shows. Strings of a traced program
 * may have been written to steer the terminal of who reads them: every line for
 * people, of a backend or of a reader, goes through here.
 */
#ifndef GKHI_UTF8_H
#define GKHI_UTF8_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

static inline bool gkhi_utf8_tail(const uint8_t *bytes, size_t n, size_t at)
{
	return at < n && (bytes[at] & 0xc0) == 0x80;
}

/* Bytes of the UTF-8 character that the @n bytes at @bytes begin with; 0: it is none. */
static inline size_t gkhi_utf8_length(const uint8_t *bytes, size_t n)
{
	uint8_t c = bytes[0];

	if (c < 0x80)
		return 1;
	if (!gkhi_utf8_tail(bytes, n, 1))
		return 0;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (!gkhi_utf8_tail(bytes, n, 2) || (c == 0xe0 && bytes[1] < 0xa0) || (c == 0xed && bytes[1] > 0x9f))
		return 0;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	if (!gkhi_utf8_tail(bytes, n, 3) || (c == 0xf0 && bytes[1] < 0x90) || (c == 0xf4 && bytes[1] > 0x8f))
		return 0;
	return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/*
 * The same, if a terminal only shows that character; 0: a control character
 * (U+0080 to U+009F are too), or not UTF-8, of which a terminal may make anything.
 */
static inline size_t gkhi_shown_length(const uint8_t *bytes, size_t n)
{
	uint8_t c = bytes[0];

	if (c < 0x80)
		return c >= 0x20 && c != 0x7f;
	if (c == 0xc2 && n > 1 && bytes[1] < 0xa0)
		return 0;
	return gkhi_utf8_length(bytes, n);
}

#endif
