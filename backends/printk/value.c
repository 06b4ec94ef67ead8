// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * value.c - one field as text, as its type and format say. See line.h.
 */
#include <gkhi/utf8.h>

#include "line.h"

/* The bytes of a field, wherever they are; @count elements. */
struct value {
	const struct gkhi_field *field;
	const uint8_t *bytes;
	uint32_t count;
	char format;
};

static uint64_t element(const struct value *v, uint32_t i)
{
	const uint8_t *at = v->bytes + (size_t)i * v->field->size;
	uint64_t bits = 0;

	for (unsigned int b = v->field->size; b-- > 0;)
		bits = bits << 8 | at[b];
	return bits;
}

static uint64_t low_bytes(uint64_t bits, uint8_t size)
{
	return size >= 8 ? bits : bits & ((1ull << (8 * size)) - 1);
}

static int64_t extend(uint64_t bits, uint8_t size)
{
	unsigned int shift = 64 - 8 * size;

	return (int64_t)(bits << shift) >> shift;
}

static void escaped(struct gkhi_line *line, const uint8_t *bytes, size_t n, char quote)
{
	for (size_t i = 0, length; i < n; i += length ? length : 1) {
		uint8_t c = bytes[i];

		length = gkhi_shown_length(bytes + i, n - i);
		if (c == (uint8_t)quote || c == '\\') {
			gkhi_line_char(line, '\\');
			gkhi_line_char(line, (char)c);
		} else if (c == '\n') {
			gkhi_line_text(line, "\\n");
		} else if (c == '\t') {
			gkhi_line_text(line, "\\t");
		} else if (!length) {
			gkhi_line_text(line, "\\x");
			gkhi_line_char(line, "0123456789abcdef"[c >> 4]);
			gkhi_line_char(line, "0123456789abcdef"[c & 15]);
		} else {
			gkhi_line_bytes(line, (const char *)bytes + i, length);
		}
	}
}

static void string(struct gkhi_line *line, const uint8_t *bytes, size_t n)
{
	bool quotes = !n;

	for (size_t i = 0, length; i < n && !quotes; i += length) {
		length = gkhi_shown_length(bytes + i, n - i);
		quotes = !length || bytes[i] == ' ' || bytes[i] == '"' || bytes[i] == '\\';
	}
	if (!quotes) {
		gkhi_line_bytes(line, (const char *)bytes, n);
		return;
	}
	gkhi_line_char(line, '"');
	escaped(line, bytes, n, '"');
	gkhi_line_char(line, '"');
}

static void hex_bytes(struct gkhi_line *line, const uint8_t *bytes, size_t n, char separator)
{
	for (size_t i = 0; i < n; i++) {
		if (separator && i)
			gkhi_line_char(line, separator);
		gkhi_line_char(line, "0123456789abcdef"[bytes[i] >> 4]);
		gkhi_line_char(line, "0123456789abcdef"[bytes[i] & 15]);
	}
}

static void ipv4(struct gkhi_line *line, const uint8_t *bytes)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			gkhi_line_char(line, '.');
		gkhi_line_unsigned(line, bytes[i]);
	}
}

static uint16_t group(const uint8_t *bytes, int i)
{
	return (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
}

/* Lower-case hexadecimal without leading zeros, without the "0x". */
static void hex_group(struct gkhi_line *line, uint16_t value)
{
	bool begun = false;

	for (int shift = 12; shift >= 0; shift -= 4) {
		begun |= value >> shift || !shift;
		if (begun)
			gkhi_line_char(line, "0123456789abcdef"[value >> shift & 15]);
	}
}

/* The longest run of two zero groups or more, the first of equals; -1: none. */
static int longest_zeros(const uint8_t *bytes, int *length)
{
	int best = -1;

	*length = 1;
	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && !group(bytes, i + n))
			n++;
		if (n > *length) {
			best = i;
			*length = n;
		}
	}
	return best;
}

/* As inet_ntop() does (RFC 5952), "::1.2.3.4" and "::ffff:1.2.3.4" included. */
static void ipv6(struct gkhi_line *line, const uint8_t *bytes)
{
	int length, zeros = longest_zeros(bytes, &length);

	for (int i = 0; i < 8; i++) {
		if (zeros >= 0 && i >= zeros && i < zeros + length) {
			if (i == zeros)
				gkhi_line_char(line, ':');
			continue;
		}
		if (i)
			gkhi_line_char(line, ':');
		if (i == 6 && !zeros && (length == 6 || (length == 7 && group(bytes, 7) != 1) ||
					 (length == 5 && group(bytes, 5) == 0xffff))) {
			ipv4(line, bytes + 12);
			return;
		}
		hex_group(line, group(bytes, i));
	}
	if (zeros >= 0 && zeros + length == 8)
		gkhi_line_char(line, ':');
}

static void uuid(struct gkhi_line *line, const uint8_t *bytes)
{
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			gkhi_line_char(line, '-');
		hex_bytes(line, bytes + i, 1, 0);
	}
}

/* Formats that take all bytes of the field as one value; false: not one, or not its size. */
static bool whole(struct gkhi_line *line, const struct value *v)
{
	size_t n = (size_t)v->count * v->field->size;

	switch (v->field->show) {
	case GKHI_SHOW_IPV4:
		if (n == 4)
			ipv4(line, v->bytes);
		return n == 4;
	case GKHI_SHOW_IPV6:
		if (n == 16)
			ipv6(line, v->bytes);
		return n == 16;
	case GKHI_SHOW_MAC:
		if (n == 6)
			hex_bytes(line, v->bytes, n, ':');
		return n == 6;
	case GKHI_SHOW_UUID:
		if (n == 16)
			uuid(line, v->bytes);
		return n == 16;
	default:
		return false;
	}
}

static bool is_signed(const struct gkhi_field *field)
{
	return field->type == GKHI_T_INT;
}

static void integer(struct gkhi_line *line, const struct value *v, uint32_t i)
{
	uint64_t bits = element(v, i);

	if (v->format == 'x' || (!v->format && v->field->show == GKHI_SHOW_HEX)) {
		gkhi_line_hex(line, bits);
	} else if (v->format == 'o' || (!v->format && v->field->show == GKHI_SHOW_OCT)) {
		gkhi_line_octal(line, bits);
	} else if (!v->format && v->field->show == GKHI_SHOW_CHAR) {
		gkhi_line_char(line, '\'');
		escaped(line, v->bytes + (size_t)i * v->field->size, 1, '\'');
		gkhi_line_char(line, '\'');
	} else if (is_signed(v->field)) {
		gkhi_line_signed(line, extend(bits, v->field->size));
	} else {
		gkhi_line_unsigned(line, bits);
	}
}

static const char *enum_name(const struct gkhi_field *field, uint64_t bits)
{
	for (uint32_t i = 0; i < field->n_enumerators; i++) {
		if (low_bytes((uint64_t)field->enumerators[i].value, field->size) == bits)
			return field->enumerators[i].name;
	}
	return NULL;
}

static void flags(struct gkhi_line *line, const struct gkhi_field *field, uint64_t bits)
{
	bool first = true;

	if (!bits) {
		const char *name = enum_name(field, 0);

		gkhi_line_text(line, name ? name : "0");
		return;
	}
	for (uint32_t i = 0; i < field->n_enumerators; i++) {
		uint64_t mask = low_bytes((uint64_t)field->enumerators[i].value, field->size);

		if (!mask || (bits & mask) != mask)
			continue;
		if (!first)
			gkhi_line_char(line, '|');
		gkhi_line_text(line, field->enumerators[i].name);
		bits &= ~mask;
		first = false;
	}
	if (!bits)
		return;
	if (!first)
		gkhi_line_char(line, '|');
	gkhi_line_hex(line, bits);
}

static void one(struct gkhi_line *line, const struct value *v, uint32_t i)
{
	uint64_t bits = element(v, i);
	const char *name;

	if (v->format) {
		integer(line, v, i);
		return;
	}
	switch (v->field->type) {
	case GKHI_T_BOOL:
		gkhi_line_text(line, bits ? "true" : "false");
		break;
	case GKHI_T_PTR:
		gkhi_line_hex(line, bits);
		break;
	case GKHI_T_FLOAT:
		if (v->field->size == 4)
			gkhi_line_f32(line, (uint32_t)bits);
		else
			gkhi_line_f64(line, bits);
		break;
	case GKHI_T_ENUM:
		name = enum_name(v->field, bits);
		if (name)
			gkhi_line_text(line, name);
		else
			integer(line, v, i);
		break;
	case GKHI_T_FLAGS:
		flags(line, v->field, bits);
		break;
	default:
		integer(line, v, i);
	}
}

static struct value value_of(const struct gkhi_payload *payload, const struct gkhi_field *field, uint64_t pointer)
{
	struct value v = { .field = field, .count = 1 };

	if (gkhi_field_is_tail(field)) {
		struct gkhi_tail tail = gkhi_tail_of(payload, field, pointer);

		v.bytes = tail.from;
		v.count = tail.from ? tail.bytes / field->size : 0;
		return v;
	}
	v.bytes = (const uint8_t *)payload->frame + field->offset;
	if (field->form == GKHI_FORM_ARRAY)
		v.count = field->max;
	return v;
}

void gkhi_line_value(struct gkhi_line *line, const struct gkhi_payload *payload, const struct gkhi_field *field,
		     uint64_t pointer, char format)
{
	struct value v = value_of(payload, field, pointer);
	bool list = field->type != GKHI_T_BINARY && field->form != GKHI_FORM_SCALAR;
	uint32_t n = 0;

	v.format = format;
	if (field->type == GKHI_T_STRING) {
		string(line, v.bytes, v.count);
	} else if (!format && whole(line, &v)) {
		return;
	} else if (field->type == GKHI_T_BINARY) {
		hex_bytes(line, v.bytes, v.count, 0);
	} else if (list && field->show == GKHI_SHOW_CHAR && field->size == 1) {
		while (n < v.count && v.bytes[n])
			n++;
		string(line, v.bytes, n);
	} else if (!list) {
		one(line, &v, 0);
	} else {
		gkhi_line_char(line, '[');
		for (uint32_t i = 0; i < v.count && !line->cut; i++) {
			if (i)
				gkhi_line_char(line, ',');
			one(line, &v, i);
		}
		gkhi_line_char(line, ']');
	}
}
