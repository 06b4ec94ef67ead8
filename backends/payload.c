// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * payload.c - the tail fields of an event. See payload.h.
 *
 *   all calls    any context    may run against everything
 */
#include "payload.h"

#define ONES	0x0101010101010101ull
#define HIGHS	0x8080808080808080ull

uint32_t gkhi_string_length(const char *s, uint32_t max)
{
	uint32_t n = 0;

	/* An aligned word lies in one page: reading all of it is safe when one byte is. */
	while (n < max && ((uintptr_t)(s + n) & 7)) {
		if (!s[n])
			return n;
		n++;
	}
	while (n + 8 <= max) {
		uint64_t word = *(const volatile uint64_t *)(s + n);

		if ((word - ONES) & ~word & HIGHS)
			break;
		n += 8;
	}
	while (n < max && ((const volatile char *)s)[n])
		n++;
	return n;
}

static struct gkhi_tail string_tail(const char *s, uint32_t max)
{
	struct gkhi_tail tail = { .from = s ? s : "(null)", .string = true };

	tail.bytes = gkhi_string_length(tail.from, max ? max - 1 : 0);
	return tail;
}

static uint32_t count_of(const struct gkhi_payload *payload, const struct gkhi_field *field)
{
	uint32_t count;

	if (field->form == GKHI_FORM_ARRAY)
		return field->max;
	/* The frame is little endian, as the buffer is: the count lies where it will lie. */
	count = (uint32_t)(payload->frame[field->len_offset / 8] >> (8 * (field->len_offset & 7)));
	return count < field->max ? count : field->max;
}

struct gkhi_tail gkhi_tail_of(const struct gkhi_payload *payload, const struct gkhi_field *field, uint64_t pointer)
{
	const void *from = (const void *)(uintptr_t)pointer;

	if (field->type == GKHI_T_STRING)
		return string_tail(from, field->max);
	return (struct gkhi_tail){ .from = from, .bytes = count_of(payload, field) * field->size };
}
