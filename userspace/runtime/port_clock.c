// SPDX-License-Identifier: MIT
/*
 * port_clock.c - the clock and the processor count, as the event side reads them.
 *
 * Set once by gkhi_clock_init() (clock_init.c) before the first hook goes on;
 * read from any context.
 */
#include <time.h>

#include "clock.h"
#include "port_posix.h"
#include "sys.h"

struct gkhi_clock_source gkhi_clock_source;

static uint64_t monotonic(void)
{
	struct timespec ts = { 0, 0 };

	if (!gkhi_clock_source.gettime || gkhi_clock_source.gettime(CLOCK_MONOTONIC, &ts))
		(void)sys_call3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t port_clock(void)
{
#if defined(__x86_64__)
	if (gkhi_clock_source.kind == GKHI_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#endif
	return monotonic();
}

uint32_t port_clock_kind(void)
{
	return gkhi_clock_source.kind;
}

unsigned int port_n_cpus(void)
{
	return gkhi_clock_source.n_cpus;
}

int port_tid(void)
{
	return (int)sys_call3(SYS_gettid, 0, 0, 0);
}
