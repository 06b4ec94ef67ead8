// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook.c - what a hook's entry means here: its static calls follow its stub, its
 * probes its state, and its counts are per cpu.
 *
 *   everything       task, control lock held
 */
#include <linux/percpu.h>

#include "gkhi_core.h"

void port_hook_changed(struct gkhi_hook_entry *e)
{
	struct gkhi_hook_ref *ref;

	gkhi_markers_wanted(e);
	for (ref = e->hooks; e->effective != GKHI_DISABLED && ref; ref = ref->next) {
		if (ref->hook->n_jumps)
			gkhi_call_update(ref->hook, ref->hook->stub);
	}
}

/* Hits and losses of the hook: of stubs per cpu, of the generic path, of probes. */
void gkhi_entry_totals(const struct gkhi_hook_entry *e, struct gkhi_totals *totals)
{
	const struct gkhi_hook_ref *ref;
	int cpu;

	totals->hits = READ_ONCE(e->counters[0]);
	totals->lost = READ_ONCE(e->counters[1]) + gkhi_markers_missed(e);
	for (ref = e->hooks; ref; ref = ref->next) {
		for_each_possible_cpu(cpu) {
			const struct gkhi_count *count = per_cpu_ptr(ref->hook->count, cpu);

			totals->hits += READ_ONCE(count->hits);
			totals->lost += READ_ONCE(count->lost);
		}
	}
}

u32 gkhi_entry_sites(const struct gkhi_hook_entry *e)
{
	const struct gkhi_hook_ref *ref;
	u32 n = e->n_bare;

	for (ref = e->hooks; ref; ref = ref->next)
		n += ref->hook->n_jumps;
	return n;
}
