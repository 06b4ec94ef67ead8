// SPDX-License-Identifier: MIT
/* plain_main.c - the work alone: no runtime, nobody to switch anything. */
#include <stdio.h>

#include "sites_inline.h"

int main(void)
{
	uint64_t sum = sites_work_c(40) + sites_work_unit(50) + sites_work_cxx(60) + sites_work_cxx2(70);

	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
