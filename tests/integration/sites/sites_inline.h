/* SPDX-License-Identifier: MIT */
/* sites_inline.h - hooks in inline code that several objects share. */
#ifndef SITES_INLINE_H
#define SITES_INLINE_H

#ifdef SITES_UNHOOKED
#define gkhi_sites_none() ((void)0)
#define gkhi_sites_num(a, b) ((void)0)
#define gkhi_sites_mixed(len, queue, up, level, name, addr) ((void)0)
#define gkhi_sites_wide(w0, w1, w2, w3, w4, w5, w6, w7) ((void)0)
#define gkhi_sites_real(d, n) ((void)0)
#define gkhi_sites_list(nums, nums_len, blob, blob_len) ((void)0)
#define gkhi_sites_bare(x, p) ((void)0)
#include <stdint.h>
#include <stdbool.h>
#else
#include "gkhi_sites.h"
#endif

static inline uint64_t sites_shared(uint64_t x)
{
	gkhi_sites_num(x, -(int64_t)x);
	return x * 7 + 1;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Each returns a sum that must not depend on the state of any hook. */
uint64_t sites_work_c(uint64_t seed);
uint64_t sites_work_unit(uint64_t seed);
uint64_t sites_work_cxx(uint64_t seed);
uint64_t sites_work_cxx2(uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
