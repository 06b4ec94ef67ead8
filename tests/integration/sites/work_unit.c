// SPDX-License-Identifier: MIT
/* work_unit.c - the same hooks in another object, one of them in a function nobody calls. */
#include "sites_inline.h"

uint64_t sites_unused(uint64_t x)
{
	gkhi_sites_num(999999, 999999);
	return x;
}

uint64_t sites_work_unit(uint64_t seed)
{
	uint64_t sum = sites_shared(seed) + sites_shared(seed + 1);

	gkhi_sites_bare((int32_t)-7, (const void *)0);
	gkhi_sites_none();
	return sum;
}
