/* SPDX-License-Identifier: MIT */
/* detour_code.h - writing x86-64 instructions for detours. Control lock held. */
#ifndef GKHI_DETOUR_CODE_H
#define GKHI_DETOUR_CODE_H

#include "detour.h"

/*
 * struct code - where instructions go. Written at @at, executed @delta further on.
 * @entry:  where a pad shall jump
 * @slow:   jumps of the fast sequence to what comes behind it
 * @failed: it did not fit, or a displacement was out of reach: nothing is used
 */
#define CODE_SLOW_MAX	8u

struct code {
	uint8_t *start, *at, *end;
	intptr_t delta;
	uintptr_t entry;
	uint8_t *slow[CODE_SLOW_MAX];
	unsigned int n_slow;
	bool failed;
};

void code_put(struct code *c, const void *bytes, size_t n);
void code_u8(struct code *c, uint8_t value);
void code_u32(struct code *c, uint32_t value);
void code_u64(struct code *c, uint64_t value);

/* Instructions as a string literal. */
#define CODE(c, literal) code_put(c, literal, sizeof(literal) - 1)

/* Where the next byte will be executed. */
uintptr_t code_here(const struct code *c);

/* Four bytes: the distance from behind them to @target. */
void code_rel32(struct code *c, uintptr_t target);

/* A jump forward: put 4 bytes, later let it come here. */
uint8_t *code_forward(struct code *c);
void code_land(struct code *c, uint8_t *from);

/* The distance of a jump, to be put behind its opcode, that leaves the fast sequence. */
void code_slow(struct code *c);

/* Skip the red zone; save rax and the flags. And back. */
void code_save_flags(struct code *c);
void code_restore_flags(struct code *c);

/* detour_fast.c: false: the event does not fit, nothing was written. */
bool detour_fast_fits(const struct detour *d);
void detour_fast(struct code *c, const struct detour *d);

/*
 * detour_string.c: the string behind the fixed part. Its registers are saved below
 * rsp; detour_string_data() goes in front of the code, at 16 bytes.
 */
void detour_string_data(struct code *c);
void detour_string_save(struct code *c);
void detour_string_restore(struct code *c);
void detour_string_copy(struct code *c, unsigned int words, uintptr_t data);

#endif
