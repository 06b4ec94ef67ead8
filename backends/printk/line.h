/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * line.h - one line of text in a buffer of the caller's: no memory, no locale, no
 * lock, so that signal handlers may write lines too.
 */
#ifndef GKHI_LINE_H
#define GKHI_LINE_H

#include "payload.h"

/* @cut: something did not fit */
struct gkhi_line {
	char *buf;
	size_t size;
	size_t len;
	bool cut;
};

void gkhi_line_bytes(struct gkhi_line *line, const char *bytes, size_t n);
void gkhi_line_text(struct gkhi_line *line, const char *text);
void gkhi_line_char(struct gkhi_line *line, char c);
void gkhi_line_unsigned(struct gkhi_line *line, uint64_t value);
void gkhi_line_signed(struct gkhi_line *line, int64_t value);
void gkhi_line_hex(struct gkhi_line *line, uint64_t value);
void gkhi_line_octal(struct gkhi_line *line, uint64_t value);

/* The shortest text that reads back as the same f64 (or f32) of these bits. */
void gkhi_line_f64(struct gkhi_line *line, uint64_t bits);
void gkhi_line_f32(struct gkhi_line *line, uint32_t bits);

/* The value of @field; @pointer is the frame's word for a tail field. @format: 0, 'd', 'x' or 'o'. */
void gkhi_line_value(struct gkhi_line *line, const struct gkhi_payload *payload, const struct gkhi_field *field,
		     uint64_t pointer, char format);

/* The event's message template with its fields put in. */
void gkhi_line_message(struct gkhi_line *line, const struct gkhi_payload *payload);

#endif
