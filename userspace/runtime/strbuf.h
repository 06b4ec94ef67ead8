/* SPDX-License-Identifier: MIT */
/* strbuf.h - put text together without stdio; what does not fit sets @full. */
#ifndef GKHI_STRBUF_H
#define GKHI_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
	char *at;
	char *end;			/* the last byte: kept for the NUL */
	bool full;
};

struct strbuf sb_into(char *buf, size_t size);
void sb_char(struct strbuf *t, char c);
void sb_str(struct strbuf *t, const char *s);
void sb_bytes(struct strbuf *t, const char *s, size_t n);
void sb_dec(struct strbuf *t, uint64_t v);
void sb_hex(struct strbuf *t, uint64_t v, unsigned int digits);	/* without 0x */
void sb_errno(struct strbuf *t, int err);	/* the words for 0 < err */

/* Decimal number at *@s, which moves behind it; false: no digit there. */
bool sb_parse_dec(const char **s, uint64_t *v);

#endif
