// SPDX-License-Identifier: MIT
/*
 * detour_code.c - the machine code of a detour:
 *
 *   entry:    [ the fast sequence (detour_fast.c); out of it on anything unusual ]
 *   generic:  skip the red zone, save rax and flags
 *             rax = plan, call gkhi_detour_common
 *             restore, jump behind the pad
 *
 * Control lock held. lahf and sahf instead of pushf and popf: popf alone costs as
 * much as half an event.
 */
#include "detour_code.h"

#define CODE_MAX	2048u		/* of one detour */

void code_put(struct code *c, const void *bytes, size_t n)
{
	if (c->failed || (size_t)(c->end - c->at) < n) {
		c->failed = true;
		return;
	}
	memcpy(c->at, bytes, n);
	c->at += n;
}

void code_u8(struct code *c, uint8_t value)
{
	code_put(c, &value, sizeof(value));
}

void code_u32(struct code *c, uint32_t value)
{
	code_put(c, &value, sizeof(value));
}

void code_u64(struct code *c, uint64_t value)
{
	code_put(c, &value, sizeof(value));
}

uintptr_t code_here(const struct code *c)
{
	return (uintptr_t)c->at + (uintptr_t)c->delta;
}

void code_rel32(struct code *c, uintptr_t target)
{
	int64_t distance = (int64_t)(target - (code_here(c) + 4));

	if (distance != (int32_t)distance)
		c->failed = true;
	code_u32(c, (uint32_t)distance);
}

uint8_t *code_forward(struct code *c)
{
	code_u32(c, 0);
	return c->at - 4;
}

void code_land(struct code *c, uint8_t *from)
{
	uint32_t distance = (uint32_t)(c->at - (from + 4));

	if (!c->failed)
		memcpy(from, &distance, sizeof(distance));
}

void code_slow(struct code *c)
{
	if (c->n_slow == CODE_SLOW_MAX)
		c->failed = true;
	else
		c->slow[c->n_slow++] = code_forward(c);
}

void code_save_flags(struct code *c)
{
	CODE(c, "\x48\x8d\x64\x24\x80"			/* lea -128(%rsp),%rsp */
		"\x50"					/* push %rax */
		"\x9f"					/* lahf */
		"\x0f\x90\xc0"				/* seto %al */
		"\x50");				/* push %rax */
}

void code_restore_flags(struct code *c)
{
	CODE(c, "\x58"					/* pop %rax */
		"\x04\x7f"				/* add $127,%al: overflow if al was 1 */
		"\x9e"					/* sahf */
		"\x58"					/* pop %rax */
		"\x48\x8d\xa4\x24\x80\x00\x00\x00");	/* lea 128(%rsp),%rsp */
}

static void generic(struct code *c, const struct detour *d)
{
	uint8_t *literal;

	code_save_flags(c);
	CODE(c, "\x48\xb8");				/* movabs $d,%rax */
	code_u64(c, (uint64_t)d);
	CODE(c, "\xff\x15");				/* call *literal(%rip) */
	literal = code_forward(c);
	code_restore_flags(c);
	CODE(c, "\xe9");				/* jmp behind the pad */
	code_rel32(c, d->resume);
	while ((uintptr_t)c->at & 7 && !c->failed)
		CODE(c, "\xcc");
	code_land(c, literal);
	code_u64(c, (uint64_t)gkhi_detour_common);
}

static void start_code(struct code *c, const struct detour_space *space)
{
	size_t size = space->size < CODE_MAX ? space->size : CODE_MAX;

	*c = (struct code){ .start = space->write, .at = space->write, .end = space->write + size };
	c->delta = (intptr_t)space->exec - (intptr_t)space->write;
	c->entry = space->exec;
}

int detour_code(struct detour *d)
{
	bool fast = detour_fast_fits(d);
	struct detour_space space;
	struct code c;
	int rc = detour_arena_get(d->resume, CODE_MAX, &space);

	if (rc)
		return rc;
	start_code(&c, &space);
	if (fast) {
		detour_fast(&c, d);
		if (c.failed)			/* the hook is out of reach, or too many operands */
			start_code(&c, &space);
	}
	generic(&c, d);
	if (c.failed)
		return -ENOSPC;
	d->entry = (const void *)c.entry;
	detour_arena_commit(&space, (size_t)(c.at - c.start));
	return 0;
}
