// SPDX-License-Identifier: MIT
/* LTTng-UST's side: provider and call sites. C, as its users write it. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.h"

#include "lttng_sites.h"

__attribute__((noinline)) void BenchLttngOverwrite(void *state, long n)
{
	(void)state;
	for (long i = 0; i < n; i++)
		lttng_ust_tracepoint(gkhi_bench, pair_overwrite, (uint64_t)i, (uint64_t)n);
}

__attribute__((noinline)) void BenchLttngDiscard(void *state, long n)
{
	(void)state;
	for (long i = 0; i < n; i++)
		lttng_ust_tracepoint(gkhi_bench, pair_discard, (uint64_t)i, (uint64_t)n);
}

__attribute__((noinline)) void BenchLttngText(void *state, long n)
{
	const char *text = state;

	for (long i = 0; i < n; i++)
		lttng_ust_tracepoint(gkhi_bench, text_overwrite, (uint64_t)i, (uint64_t)n, 3, text);
}

int BenchLttngEnabled(void)
{
	return lttng_ust_tracepoint_enabled(gkhi_bench, pair_overwrite) &&
	       lttng_ust_tracepoint_enabled(gkhi_bench, pair_discard) &&
	       lttng_ust_tracepoint_enabled(gkhi_bench, text_overwrite);
}
