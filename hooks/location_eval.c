// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * location_eval.c - the value at an operand location. Event side: runs in a
 * detour, in any context, with the interrupted code's vector registers live.
 */
#include "location.h"

#include "port.h"

static uint64_t mask_of(unsigned int bits)
{
	return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

/* Follow the steps; a load is @size bytes wide when nothing comes behind it. */
static int follow(const struct gkhi_location *loc, unsigned int size, const struct gkhi_regs *regs,
		  gkhi_read_fn read, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < loc->n_steps; i++) {
		uint64_t address = *value + (int64_t)loc->step[i];

		*value = address;
		if (!(loc->deref >> i & 1))
			continue;
		*value = 0;
		if (read(value, address, i + 1 == loc->n_steps ? size : 8, regs)) {
			*value = 0;
			return -EFAULT;
		}
	}
	return 0;
}

static int start_of(const struct gkhi_location *loc, unsigned int size, const struct gkhi_regs *regs,
		    gkhi_read_fn read, uint64_t *value)
{
	switch (loc->kind) {
	case GKHI_LOCATION_IMM:
		*value = (uint64_t)loc->value;
		return 0;
	case GKHI_LOCATION_REG:
		*value = regs->r[loc->reg] >> loc->reg_shift;
		return 0;
	case GKHI_LOCATION_XMM:
		if (loc->reg >= 16)
			return -EINVAL;
		*value = regs->xmm[loc->reg];
		return 0;
	default:				/* GKHI_LOCATION_MEM */
		*value = 0;
		return read(value, regs->r[loc->reg] + (uint64_t)loc->value, loc->n_steps ? 8 : size, regs);
	}
}

int gkhi_location_eval(const struct gkhi_location *loc, unsigned int size,
		       const struct gkhi_regs *regs, gkhi_read_fn read, uint64_t *value)
{
	int rc = start_of(loc, size, regs, read, value);

	if (!rc)
		rc = follow(loc, size, regs, read, value);
	if (rc) {
		*value = 0;
		return rc;
	}
	if (loc->width)
		*value = *value >> loc->shift & mask_of(loc->width);
	else
		*value &= mask_of(8 * size);
	return 0;
}
