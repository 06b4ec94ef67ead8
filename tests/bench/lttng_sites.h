/* SPDX-License-Identifier: MIT */
/* lttng_sites.h - LTTng-UST's call sites, for lttng.cc. */
#ifndef GKHI_BENCH_LTTNG_SITES_H
#define GKHI_BENCH_LTTNG_SITES_H

#ifdef __cplusplus
extern "C" {
#endif

void BenchLttngOverwrite(void *state, long n);
void BenchLttngDiscard(void *state, long n);
void BenchLttngText(void *state, long n);
int BenchLttngEnabled(void);	/* the session's channels have reached this process */

#ifdef __cplusplus
}
#endif
#endif
