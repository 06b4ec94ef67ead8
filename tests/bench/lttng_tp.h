/* SPDX-License-Identifier: MIT */
/* The same two events for LTTng-UST, once per channel kind. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gkhi_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_tp.h"

#if !defined(GKHI_BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define GKHI_BENCH_LTTNG_TP_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(gkhi_bench, pair,
	LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, a, a)
		lttng_ust_field_integer(uint64_t, b, b)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(gkhi_bench, pair, gkhi_bench, pair_overwrite,
	LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(gkhi_bench, pair, gkhi_bench, pair_discard,
	LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b))

LTTNG_UST_TRACEPOINT_EVENT(gkhi_bench, text_overwrite,
	LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b, uint64_t, c, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, a, a)
		lttng_ust_field_integer(uint64_t, b, b)
		lttng_ust_field_integer(uint64_t, c, c)
		lttng_ust_field_string(text, text)))

#endif

#include <lttng/tracepoint-event.h>
