/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - an event as a site hands it over becomes a record: measured first,
 * then put where a transport has made room for it.
 *
 *   all calls    any context, preemption off
 *
 * Every pointer of a frame can be read: sites hand over what their subsystem
 * could use itself, markers have looked.
 */
#ifndef GKHI_KMOD_RECORD_H
#define GKHI_KMOD_RECORD_H

#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <gkhi/channel.h>

#define KRECORD_TAILS	100	/* genevent lets no event have more fields */

/**
 * struct krecord - the size of a record and of its parts
 * @words: all of it, header included
 * @bytes: of each tail field, without a string's NUL
 */
struct krecord {
	u32 words;
	u32 bytes[KRECORD_TAILS];
};

static inline u32 krecord_header_words(u32 stream_class)
{
	return stream_class == GKHI_STREAM_WIDE ? 2 : 1;
}

static inline void krecord_header(u64 *to, u32 stream_class, u64 time, u32 id)
{
	switch (stream_class) {
	case GKHI_STREAM_COMPACT:
		to[0] = time << GKHI_ID_BITS | id;
		break;
	case GKHI_STREAM_WIDE:
		to[0] = time;
		to[1] = (u64)current->pid << 32 | id;
		break;
	default:
		to[0] = id;
	}
}

static inline bool krecord_is_tail(const struct gkhi_field *field)
{
	return field->offset == GKHI_NO_OFFSET;
}

static inline const char *krecord_string(u64 pointer)
{
	return pointer ? (const char *)(uintptr_t)pointer : "(null)";
}

/* Bytes of a tail field that go to the buffer. */
static inline u32 krecord_tail_bytes(const struct gkhi_payload *p, const struct gkhi_field *field, u64 pointer)
{
	u32 count = field->max;

	if (field->type == GKHI_T_STRING)
		return strnlen(krecord_string(pointer), field->max ? field->max - 1 : 0);
	if (field->form != GKHI_FORM_ARRAY)
		count = min(count, *(const u32 *)((const char *)p->frame + field->len_offset));
	return count * field->size;
}

static inline u32 krecord_tail_words(const struct gkhi_field *field, u32 bytes)
{
	return (bytes + (field->type == GKHI_T_STRING ? 8 : 7)) / 8;
}

static inline void krecord_measure(struct krecord *r, u32 stream_class, const struct gkhi_payload *p)
{
	const struct gkhi_event *event = p->event;
	const struct gkhi_field *f;
	u32 n = 0;

	r->words = krecord_header_words(stream_class) + event->fixed_words;
	if (!event->n_tails)
		return;
	for (f = event->fields; f < event->fields + event->n_fields; f++) {
		if (!krecord_is_tail(f) || n >= KRECORD_TAILS)
			continue;
		r->bytes[n] = krecord_tail_bytes(p, f, p->frame[event->fixed_words + n]);
		r->words += krecord_tail_words(f, r->bytes[n]);
		n++;
	}
}

/*
 * The room is what was measured: a string that has become shorter since then gets
 * question marks for what it lost, since a NUL inside would end it too early.
 */
static inline void krecord_put_string(char *to, const char *from, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		to[i] = READ_ONCE(from[i]) ?: '?';
	memset(to + bytes, 0, 8 - bytes % 8);
}

static inline void krecord_put_bytes(char *to, const void *from, u32 bytes)
{
	if (from)
		memcpy(to, from, bytes);
	else
		memset(to, 0, bytes);
	if (bytes % 8)
		memset(to + bytes, 0, 8 - bytes % 8);
}

static inline void krecord_put(u64 *to, const struct krecord *r, u32 stream_class, u64 time,
			       const struct gkhi_payload *p)
{
	const struct gkhi_event *event = p->event;
	const struct gkhi_field *f;
	u32 n = 0;

	krecord_header(to, stream_class, time, p->id);
	to += krecord_header_words(stream_class);
	memcpy(to, p->frame, 8 * event->fixed_words);
	to += event->fixed_words;
	if (!event->n_tails)
		return;
	for (f = event->fields; f < event->fields + event->n_fields; f++) {
		u64 pointer;

		if (!krecord_is_tail(f) || n >= KRECORD_TAILS)
			continue;
		pointer = p->frame[event->fixed_words + n];
		if (f->type == GKHI_T_STRING)
			krecord_put_string((char *)to, krecord_string(pointer), r->bytes[n]);
		else
			krecord_put_bytes((char *)to, (const void *)(uintptr_t)pointer, r->bytes[n]);
		to += krecord_tail_words(f, r->bytes[n]);
		n++;
	}
}

#endif
