// SPDX-License-Identifier: MIT
/* The hooked loops: the same two or four values as every other variant records. */
#include <stdint.h>

#include "gkhi_bench.h"

#include "hook_sites.h"

#define PAIR_LOOP(function, event)						\
	__attribute__((noinline)) void function(void *state, long n)		\
	{									\
		(void)state;							\
		for (long i = 0; i < n; i++)					\
			gkhi_bench_##event((uint64_t)i, (uint64_t)n);		\
	}

PAIR_LOOP(BenchPairStatic, pair_static)
PAIR_LOOP(BenchPairMarker, pair_marker)
PAIR_LOOP(BenchPairOff, pair_off)
PAIR_LOOP(BenchPairNoClock, pair_noclock)
PAIR_LOOP(BenchPairPrintk, pair_printk)

__attribute__((noinline)) void BenchTextStatic(void *state, long n)
{
	const char *text = state;

	for (long i = 0; i < n; i++)
		gkhi_bench_text_static((uint64_t)i, (uint64_t)n, 3, text);
}

__attribute__((noinline)) void BenchTextMarker(void *state, long n)
{
	const char *text = state;

	for (long i = 0; i < n; i++)
		gkhi_bench_text_marker((uint64_t)i, (uint64_t)n, 3, text);
}
