/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * location.h - operand locations of map records: where a marker's argument lives.
 * Shared by the runtime, the kernel module and the tools; pure, no memory, no locks.
 *
 *   location := start { step } [ bits ]
 *   start    := "$" NUMBER | REGISTER | [ NUMBER ] "(" REGISTER ")"
 *   step     := ">" NUMBER       add, then dereference (fault-safe)
 *             | "+" NUMBER       add only
 *   bits     := "#" SHIFT ":" WIDTH
 *   REGISTER := [ "%" ] any x86-64 name of a general register in any width,
 *               rip (only as a base: the end of the pad), or xmm0 to xmm31
 *   NUMBER   := [ "-" ] ( digits | "0x" hex digits )
 *
 * With -masm=intel the compiler leaves "%" and "$" away; both are optional.
 */
#ifndef GKHI_LOCATION_H
#define GKHI_LOCATION_H

#include <gkhi/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GKHI_LOCATION_STEPS	12

/* Indices of registers: the numbers the processor gives them. */
#define GKHI_REG_RSP		4
#define GKHI_REG_RIP		16
#define GKHI_N_REGS		17

enum gkhi_location_kind {
	GKHI_LOCATION_IMM = 0,		/* value */
	GKHI_LOCATION_REG = 1,		/* general register */
	GKHI_LOCATION_XMM = 2,
	GKHI_LOCATION_MEM = 3,		/* value(reg), valid whenever the pad runs */
};

/*
 * struct gkhi_location - a parsed location.
 * @kind:      enum gkhi_location_kind
 * @reg:       index of register or base
 * @reg_size:  bytes that the register's name covers
 * @reg_shift: 8 for ah, bh, ch, dh
 * @n_steps:   entries of @step in use
 * @shift, @width: bit-field; @width 0: none
 * @deref:     bit i: step i dereferences
 * @value:     the immediate, or the displacement of MEM
 * @step:      displacements
 */
struct gkhi_location {
	uint8_t kind;
	uint8_t reg;
	uint8_t reg_size;
	uint8_t reg_shift;
	uint8_t n_steps;
	uint8_t shift;
	uint8_t width;
	uint8_t reserved;
	uint32_t deref;
	int64_t value;
	int32_t step[GKHI_LOCATION_STEPS];
};

enum gkhi_location_error {
	GKHI_LOCATION_OK = 0,
	GKHI_LOCATION_EMPTY = 1,	/* no location at all */
	GKHI_LOCATION_REGISTER = 2,	/* no such register */
	GKHI_LOCATION_NUMBER = 3,	/* a number is missing or malformed */
	GKHI_LOCATION_RANGE = 4,	/* a number is too large */
	GKHI_LOCATION_SYMBOL = 5,	/* a symbol, which only the linker knew */
	GKHI_LOCATION_SYNTAX = 6,	/* something else stands there */
	GKHI_LOCATION_LONG = 7,		/* more than GKHI_LOCATION_STEPS steps */
	GKHI_LOCATION_BITS = 8,		/* bit-field outside the value */
	GKHI_LOCATION_SIZE = 9,		/* size of the value is not 1, 2, 4 or 8 */
	GKHI_N_LOCATION_ERRORS = 10,
};

/*
 * gkhi_location_parse - parse the location of a value of @size bytes
 * (pointers: 8).
 * @column: out, may be NULL: offset in @text at which parsing stopped
 * Return: enum gkhi_location_error; *loc is filled in only when it is OK.
 */
enum gkhi_location_error gkhi_location_parse(const char *text, size_t len, unsigned int size,
					     struct gkhi_location *loc, size_t *column);

/* What the error says to a user. */
const char *gkhi_location_error_text(enum gkhi_location_error error);

/* Registers as they were at the pad; general ones by index, then the low words of xmm0-15. */
struct gkhi_regs {
	uint64_t r[GKHI_N_REGS];
	uint64_t xmm[16];
};

/*
 * Copy @n bytes from @src, which may be anything. 0, or -EFAULT with @dst
 * unspecified.
 */
typedef int (*gkhi_read_fn)(void *dst, uint64_t src, size_t n, const struct gkhi_regs *regs);

/*
 * gkhi_location_eval - the value of @size bytes at @loc, zero-extended, a
 * bit-field shifted down. Any context; event side.
 * Return: 0; -EFAULT when a step was unreadable, then *value is 0; -EINVAL when
 * @regs cannot hold the register.
 */
int gkhi_location_eval(const struct gkhi_location *loc, unsigned int size,
		       const struct gkhi_regs *regs, gkhi_read_fn read, uint64_t *value);

#ifdef __cplusplus
}
#endif
#endif
