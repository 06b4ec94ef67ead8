/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Generated headers in kernel C: their types, no libc, declarations first. */
#include <linux/types.h>
#include "netdemo.h"
#include "words.h"

int kernel(u32 n, const char *s, const u8 *b, u64 w);

int kernel(u32 n, const char *s, const u8 *b, u64 w)
{
	gkhi_netdemo_rx(n, (u16)n, s, b);
	if (gkhi_netdemo_link_enabled())
		gkhi_netdemo_link(GKHI_NETDEMO_LINK_UP, GKHI_NETDEMO_FEATURE_CSUM, b, -1);
	gkhi_words_plain();
	gkhi_words_new(GKHI_WORDS_SWITCH_OFF, GKHI_WORDS_WIDE_HIGH, n, w, b[1], b, n, b, b, n);
	gkhi_words_keywords(n, n, n, n, n, n, n, n, b, n, n);
	return 0;
}
