// SPDX-License-Identifier: MIT
/* strbuf.c - put text together without stdio. */
#include <errno.h>
#include <string.h>

#include "strbuf.h"

struct strbuf sb_into(char *buf, size_t size)
{
	struct strbuf t = { .at = buf, .end = buf + size - 1 };

	*buf = 0;
	return t;
}

void sb_char(struct strbuf *t, char c)
{
	if (t->at >= t->end) {
		t->full = true;
		return;
	}
	*t->at++ = c;
	*t->at = 0;
}

void sb_bytes(struct strbuf *t, const char *s, size_t n)
{
	size_t room = (size_t)(t->end - t->at);

	if (n > room) {
		n = room;
		t->full = true;
	}
	memcpy(t->at, s, n);
	t->at += n;
	*t->at = 0;
}

void sb_str(struct strbuf *t, const char *s)
{
	sb_bytes(t, s, strlen(s));
}

void sb_dec(struct strbuf *t, uint64_t v)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		sb_char(t, digits[--n]);
}

void sb_hex(struct strbuf *t, uint64_t v, unsigned int digits)
{
	while (digits)
		sb_char(t, "0123456789abcdef"[v >> 4 * --digits & 15]);
}

/* strerror() may load a catalogue; these are the ones a host can cause. */
void sb_errno(struct strbuf *t, int err)
{
	static const struct {
		int err;
		const char *words;
	} known[] = {
		{ EPERM, "Operation not permitted" }, { ENOENT, "No such file or directory" },
		{ EACCES, "Permission denied" }, { EEXIST, "File exists" },
		{ ENOTDIR, "Not a directory" }, { EINVAL, "Invalid argument" },
		{ EMFILE, "Too many open files" }, { ENFILE, "Too many open files in system" },
		{ EFBIG, "File too large" }, { ENOSPC, "No space left on device" },
		{ EROFS, "Read-only file system" }, { ELOOP, "Too many levels of symbolic links" },
		{ ENOMEM, "Cannot allocate memory" }, { EDQUOT, "Disk quota exceeded" },
		{ ENAMETOOLONG, "File name too long" }, { EBUSY, "Device or resource busy" },
		{ EIO, "Input/output error" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].err == err) {
			sb_str(t, known[i].words);
			return;
		}
	sb_str(t, "errno ");
	sb_dec(t, (uint64_t)err);
}

bool sb_parse_dec(const char **s, uint64_t *v)
{
	if (**s < '0' || **s > '9')
		return false;
	for (*v = 0; **s >= '0' && **s <= '9'; (*s)++)
		*v = *v * 10 + (uint64_t)(**s - '0');
	return true;
}
