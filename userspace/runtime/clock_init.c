// SPDX-License-Identifier: MIT
/*
 * clock_init.c - choose the clock, count the processors.
 *
 * TSC only where the kernel itself trusts it: invariant, and its clocksource.
 * Then the traces of all processes and of the kernel share one time line.
 */
#include <string.h>
#include <time.h>

#include "clock.h"
#include "file.h"
#include "port_posix.h"
#include "process.h"
#include "sys.h"
#include "strbuf.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define GKHI_CPUS_MAX	8192u

uint32_t gkhi_clock_choose(bool invariant_tsc, const char *clocksource)
{
	return invariant_tsc && !strncmp(clocksource, "tsc\n", 4) ? GKHI_CLOCK_TSC : GKHI_CLOCK_MONOTONIC;
}

static bool invariant_tsc(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d = 0;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
#else
	return false;
#endif
}

/* "0-3,8" and the like: ranges in order. */
unsigned int gkhi_cpus_parse(const char *s)
{
	uint64_t last = 0;

	while (sb_parse_dec(&s, &last)) {
		if (*s == '-') {
			s++;
			if (!sb_parse_dec(&s, &last))
				return 0;
		}
		if (last >= GKHI_CPUS_MAX)
			return 0;
		if (*s == '\n' || !*s)
			return (unsigned int)last + 1;
		if (*s++ != ',')
			return 0;
	}
	return 0;
}

/*
 * Without /sys: the size of the kernel's cpu masks, which is the number of
 * possible cpus rounded up to 64.
 */
static unsigned int cpus_by_mask(void)
{
	static unsigned long mask[GKHI_CPUS_MAX / 8 / sizeof(unsigned long)];
	long bytes = sys_call3(SYS_sched_getaffinity, 0, sizeof(mask), (long)mask);

	return bytes > 0 ? (unsigned int)bytes * 8 : 64;
}

void gkhi_clock_init(void)
{
	static const char clocksource[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	struct gkhi_clock_source *source = &gkhi_clock_source;
	char buf[1024];

	if (source->kind)
		return;
	if (file_read("/sys/devices/system/cpu/possible", buf, sizeof(buf)) > 0)
		source->n_cpus = gkhi_cpus_parse(buf);
	if (!source->n_cpus)
		source->n_cpus = cpus_by_mask();
	source->gettime = (int (*)(int, struct timespec *))gkhi_vdso_find("__vdso_clock_gettime");
	if (file_read(clocksource, buf, sizeof(buf)) <= 0)
		buf[0] = 0;
	PORT_STORE_RELEASE(source->kind, gkhi_clock_choose(invariant_tsc(), buf));
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	(void)sys_call3(SYS_clock_gettime, clock, (long)&ts, 0);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* One moment on three clocks: the tightest of some tries, so that a preemption in between does not count. */
void gkhi_clock_moment(struct gkhi_control *control)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = port_clock();
		uint64_t mono = nanoseconds(CLOCK_MONOTONIC);
		uint64_t real = nanoseconds(CLOCK_REALTIME);
		uint64_t after = port_clock();

		if (after - before >= best)
			continue;
		best = after - before;
		control->clock_ticks = before + best / 2;
		control->clock_monotonic = mono;
		control->clock_realtime = real;
	}
}
