/* SPDX-License-Identifier: MIT */
/* Calls every macro of the golden headers; valid C11 and C++20. -DUNHOOKED: the same source without hooks. */
#ifndef UNHOOKED
#include "netdemo.h"
#include "sites.h"
#include "words.h"
#include "crowd.h"
#include "types.h"
#else
#include <gkhi/abi.h>
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
int uses(uint32_t n, const char *s, const void *v, const uint8_t *b, const uint16_t *h, const uint32_t *q,
	 const uint64_t *w, const double *d, const bool *t, const int8_t *c, const int32_t *i,
	 const volatile void *const *p);
#ifdef __cplusplus
}
#endif

int uses(uint32_t n, const char *s, const void *v, const uint8_t *b, const uint16_t *h, const uint32_t *q,
	 const uint64_t *w, const double *d, const bool *t, const int8_t *c, const int32_t *i,
	 const volatile void *const *p)
{
	uint32_t only_in_arguments = n * 2;

	(void)s; (void)v; (void)b; (void)h; (void)q; (void)w; (void)d; (void)t; (void)c; (void)i; (void)p;
	(void)only_in_arguments;
#ifndef UNHOOKED
	if (gkhi_netdemo_rx_enabled())
		gkhi_netdemo_rx(only_in_arguments, h[0], s, b);
	else
		gkhi_netdemo_link(GKHI_NETDEMO_LINK_UP,
				  GKHI_NETDEMO_FEATURE_CSUM | GKHI_NETDEMO_FEATURE_RX_HASH, b, -1);
	gkhi_zlib_marked(n);
	gkhi_words_plain();
	gkhi_words_old(GKHI_WORDS_SWITCH_ON);
	gkhi_words_new(GKHI_WORDS_SWITCH_OFF, GKHI_WORDS_WIDE_HIGH, n, w[1], b[1], b, n, b, b, n);
	gkhi_words_secret();
	gkhi_words_may_open(s, i[0]);
	gkhi_words_keywords(n, n, n, n, n, n, n, n, v, n, n);
	gkhi_types_none();
	gkhi_types_scalars(b[0], h[0], n, w[0], c[0], -1, i[0], -2, t[0], d[0], v, GKHI_TYPES_COLOR_RED,
			   GKHI_TYPES_MODE_READ, GKHI_TYPES_BIG_HUGE);
	gkhi_types_tails(s, v, n, q, n, w, d, p, n, t, h, s, "literal", n, n);
	gkhi_types_mk(s, d[1], b, n);
	gkhi_crowd_many(w[0], c[0], h[0], i[0], w[1], t[0], b[0], -1, n, n, -2, v, s, s, v, n, h, n, b, b, d[0]);
	gkhi_crowd_strings(s, s, s, s, s, s, s);
	gkhi_crowd_unaligned(b[0], b, b[1], h[0], h, b[2], c);
	gkhi_crowd_bare(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], s, s, w[8], i, n);
	gkhi_types_st(s, b[0]);
#endif
	return (int)n + 1;
}
