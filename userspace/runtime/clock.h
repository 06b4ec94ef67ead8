/* SPDX-License-Identifier: MIT */
/* clock.h - what clock_init.c finds out for port_clock.c. */
#ifndef GKHI_CLOCK_H
#define GKHI_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gkhi/control.h>

struct timespec;

struct gkhi_clock_source {
	uint32_t kind;			/* enum gkhi_clock_kind, 0 = not known yet */
	uint32_t n_cpus;
	int (*gettime)(int clock, struct timespec *ts);	/* of the vDSO, or NULL */
};

extern struct gkhi_clock_source gkhi_clock_source;

/* For tests: the files and the processor's word as arguments. */
uint32_t gkhi_clock_choose(bool invariant_tsc, const char *clocksource);
unsigned int gkhi_cpus_parse(const char *possible);	/* highest + 1; 0: not a cpu list */

/* The vDSO's function @name, or NULL (vdso.c). */
void *gkhi_vdso_find(const char *name);

#endif
