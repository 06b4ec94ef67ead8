// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * detour_run.c - the generic detour: finds every argument where the map says it
 * is, builds the frame a stub would have been handed, and dispatches it. Event
 * side: any context, several threads and signal handlers in one detour at once.
 */
#include "detour.h"

#include "core.h"

_Static_assert(offsetof(struct detour, resume) == DETOUR_RESUME, "detour_entry.S");
_Static_assert(offsetof(struct detour, flags) == DETOUR_FLAGS, "detour_entry.S");
_Static_assert(offsetof(struct detour, frame_bytes) == DETOUR_FRAME_BYTES, "detour_entry.S");
_Static_assert(offsetof(struct detour_context, regs.xmm) == DETOUR_REGS_XMM, "detour_entry.S");
_Static_assert(sizeof(struct detour_context) <= DETOUR_CONTEXT_BYTES, "detour_entry.S");

static const char unreadable[] = "(fault)";

static uint64_t extend(uint64_t value, const struct detour_arg *arg)
{
	unsigned int bits = arg->loc.width ? arg->loc.width : 8u * arg->load;

	if (arg->is_bool)
		return value != 0;
	if (arg->is_signed && bits < 64)
		return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
	return value;
}

static void store(void *fixed, const struct detour_arg *arg, uint64_t value, unsigned int size)
{
	uint8_t *to = (uint8_t *)fixed + arg->offset;
	unsigned int i;

	for (i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* Is everything up to the NUL, or @max bytes, readable? */
static bool string_readable(uint64_t src, uint32_t max, struct detour_context *context)
{
	uint32_t done = 0;

	while (done < max) {
		uint32_t here = (uint32_t)(4096 - ((src + done) & 4095));
		const volatile char *text = (const volatile char *)(src + done);
		uint32_t i;

		if (!detour_readable(src + done, 1, context))
			return false;
		for (i = 0; i < here && done < max; i++, done++)
			if (!text[i])
				return true;
	}
	return true;
}

/* Elements of a tail: its count in the fixed part, or all of a fixed array. */
static uint64_t elements(const struct detour_arg *arg, const void *fixed)
{
	if (arg->offset == GKHI_NO_OFFSET)
		return arg->max;
	return *(const uint32_t *)((const uint8_t *)fixed + arg->offset);
}

static void put_bytes(const struct detour_arg *arg, uint64_t src, uint64_t *frame, uint64_t *tail,
		      struct detour_context *context)
{
	if (detour_readable(src, elements(arg, frame) * arg->size, context)) {
		*tail = src;
		return;
	}
	context->faults++;
	*tail = 0;				/* as a NULL that the program hands over */
	if (arg->offset != GKHI_NO_OFFSET)
		*(uint32_t *)((uint8_t *)frame + arg->offset) = 0;
}

static void put_string(const struct detour_arg *arg, uint64_t src, uint64_t *tail, struct detour_context *context)
{
	*tail = src;
	if (src && !context->trusted && !string_readable(src, arg->max, context)) {
		context->faults++;
		*tail = (uint64_t)unreadable;
	}
}

static void put_arg(const struct detour *d, const struct detour_arg *arg, uint64_t value, uint64_t *frame,
		    struct detour_context *context)
{
	uint64_t *tail = frame + d->fixed_words + arg->tail;

	switch (arg->kind) {
	case DETOUR_SCALAR:
		store(frame, arg, extend(value, arg), arg->size);
		break;
	case DETOUR_COUNT:
		store(frame, arg, value < arg->max ? value : arg->max, 4);
		break;
	case DETOUR_ARRAY:
		if (value && detour_read((uint8_t *)frame + arg->offset, value, arg->size * arg->max, &context->regs))
			context->faults++;
		break;
	case DETOUR_STRING:
		put_string(arg, value, tail, context);
		break;
	default:				/* DETOUR_BYTES; the count is there already */
		put_bytes(arg, value, frame, tail, context);
	}
}

void gkhi_detour_run(struct detour *d, struct detour_context *context, uint64_t *frame)
{
	unsigned int i;

	context->page = 1;			/* no page at all */
	context->faults = 0;
	context->trusted = d->trusted;
	context->regs.r[GKHI_REG_RIP] = d->resume;
	for (i = 0; i < d->frame_bytes / 8; i++)
		frame[i] = 0;
	for (i = 0; i < d->n_args; i++) {
		const struct detour_arg *arg = &d->arg[i];
		uint64_t value;

		if (gkhi_location_eval(&arg->loc, arg->load, &context->regs, detour_read, &value)) {
			context->faults++;
			if (arg->kind == DETOUR_STRING)
				value = (uint64_t)unreadable;
		}
		put_arg(d, arg, value, frame, context);
	}
	if (context->faults)
		gkhi_faulted(d->hook, context->faults);
	port_deliver(d->hook, frame);
}
