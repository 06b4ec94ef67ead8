/* SPDX-License-Identifier: MIT */
/* hook_sites.h - the hooked loops, for hooks.cc. */
#ifndef GKHI_BENCH_HOOK_SITES_H
#define GKHI_BENCH_HOOK_SITES_H

#ifdef __cplusplus
extern "C" {
#endif

void BenchPairStatic(void *state, long n);
void BenchPairMarker(void *state, long n);
void BenchPairOff(void *state, long n);
void BenchPairNoClock(void *state, long n);
void BenchPairPrintk(void *state, long n);
void BenchTextStatic(void *state, long n);	/* state: the text */
void BenchTextMarker(void *state, long n);

#ifdef __cplusplus
}
#endif
#endif
