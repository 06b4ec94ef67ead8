// SPDX-License-Identifier: MIT
/* main.c - runs the work in every state and compares what the hooks said. */
#include "harness.h"
#include "sites_inline.h"

static uint64_t work(void)
{
	return sites_work_c(40) + sites_work_unit(50) + sites_work_cxx(60) + sites_work_cxx2(70);
}

int main(int argc, char **argv)
{
	(void)argv;
	return sites_check(work, argc > 1);
}
