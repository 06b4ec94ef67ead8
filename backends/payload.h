/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * payload.h - the parts of an event as a site hands it over: where each tail
 * field's bytes are and how many of them go to the buffer. Event side.
 */
#ifndef GKHI_PAYLOAD_H
#define GKHI_PAYLOAD_H

#include <gkhi/channel.h>

#include "port.h"

/* One tail field. @string: a NUL follows @bytes; @from NULL: zeros. */
struct gkhi_tail {
	const void *from;
	uint32_t bytes;
	bool string;
};

static inline bool gkhi_field_is_tail(const struct gkhi_field *field)
{
	return field->offset == GKHI_NO_OFFSET;
}

/* Bytes of a string, at most @max; reads no page that the string does not touch. */
uint32_t gkhi_string_length(const char *s, uint32_t max);

/* @field of @payload, whose pointer is @pointer (the frame's word for it). */
struct gkhi_tail gkhi_tail_of(const struct gkhi_payload *payload, const struct gkhi_field *field, uint64_t pointer);

/* Words that a tail takes in a record. */
static inline uint32_t gkhi_tail_words(const struct gkhi_tail *tail)
{
	return (tail->bytes + (tail->string ? 8 : 7)) / 8;
}

#endif
