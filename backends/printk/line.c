// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * line.c - text, numbers and message templates. See line.h; the reader's
 * value_text.cc writes the same words, and a test holds both together.
 */
#include "line.h"

void gkhi_line_bytes(struct gkhi_line *line, const char *bytes, size_t n)
{
	size_t room = line->size - line->len;

	if (n > room) {
		n = room;
		line->cut = true;
	}
	for (size_t i = 0; i < n; i++)
		line->buf[line->len + i] = bytes[i];
	line->len += n;
}

void gkhi_line_char(struct gkhi_line *line, char c)
{
	gkhi_line_bytes(line, &c, 1);
}

void gkhi_line_text(struct gkhi_line *line, const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	gkhi_line_bytes(line, text, n);
}

static void digits(struct gkhi_line *line, uint64_t value, unsigned int base)
{
	char text[22];
	size_t at = sizeof(text);

	do {
		text[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	gkhi_line_bytes(line, text + at, sizeof(text) - at);
}

void gkhi_line_unsigned(struct gkhi_line *line, uint64_t value)
{
	digits(line, value, 10);
}

void gkhi_line_signed(struct gkhi_line *line, int64_t value)
{
	if (value < 0)
		gkhi_line_char(line, '-');
	digits(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

void gkhi_line_hex(struct gkhi_line *line, uint64_t value)
{
	gkhi_line_text(line, "0x");
	digits(line, value, 16);
}

void gkhi_line_octal(struct gkhi_line *line, uint64_t value)
{
	gkhi_line_char(line, '0');
	if (value)
		digits(line, value, 8);
}

static bool same_name(const char *name, const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && name[i] && name[i] == text[i])
		i++;
	return i == n && !name[i];
}

/* @text is "field" or "field:x". */
static bool put_field(struct gkhi_line *line, const struct gkhi_payload *payload, const char *text, size_t n)
{
	const struct gkhi_event *event = payload->event;
	const uint64_t *pointer = payload->frame + event->fixed_words;
	char format = 0;

	if (n > 2 && text[n - 2] == ':') {
		format = text[n - 1];
		n -= 2;
	}
	for (const struct gkhi_field *f = event->fields; f < event->fields + event->n_fields; f++) {
		bool tail = gkhi_field_is_tail(f);

		if (same_name(f->name, text, n)) {
			gkhi_line_value(line, payload, f, tail ? *pointer : 0, format);
			return true;
		}
		pointer += tail;
	}
	return false;
}

void gkhi_line_message(struct gkhi_line *line, const struct gkhi_payload *payload)
{
	const char *text = payload->event->message;

	while (*text) {
		size_t n = 0;

		if ((text[0] == '{' || text[0] == '}') && text[1] == text[0]) {
			gkhi_line_char(line, *text);	/* "{{" and "}}" */
			text += 2;
			continue;
		}
		while (text[0] == '{' && text[n] && text[n] != '}')
			n++;
		if (n && text[n] && put_field(line, payload, text + 1, n - 1))
			text += n + 1;
		else
			gkhi_line_char(line, *text++);
	}
}
