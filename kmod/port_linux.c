// SPDX-License-Identifier: GPL-2.0-only
/*
 * port_linux.c - memory, locks, grace periods, time and static keys for the core.
 *
 *   call                              context
 *   port_guard_*, port_clock          any up to NMI, preemption off
 *   the rest                          task, control lock held (but for taking it)
 */
#include <linux/cpufeature.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/timekeeping.h>

#include "gkhi_core.h"

static DEFINE_MUTEX(gkhi_control_mutex);
static struct task_struct *gkhi_control_owner;

void port_control_lock(void)
{
	mutex_lock(&gkhi_control_mutex);
	WRITE_ONCE(gkhi_control_owner, current);
}

void port_control_unlock(void)
{
	WRITE_ONCE(gkhi_control_owner, NULL);
	mutex_unlock(&gkhi_control_mutex);
}

bool port_control_held(void)
{
	return READ_ONCE(gkhi_control_owner) == current;
}

void *port_alloc(size_t size)
{
	return kvzalloc(size, GFP_KERNEL);
}

void port_free(void *p, size_t size)
{
	kvfree(p);
}

/*
 * Expedited: a switch waits twice, and its patches have interrupted every cpu
 * anyway. Where the administrator forbids it (rcu_normal, PREEMPT_RT) it is an
 * ordinary grace period.
 */
int port_synchronize(void)
{
	synchronize_rcu_expedited();
	return 0;
}

int port_restart_sequences(void)
{
	synchronize_rcu_expedited();
	return 0;
}

/* ------------------------------------------------------------------------- guard */

static DEFINE_PER_CPU(u8[4], gkhi_guarded);

bool port_guard_enter(void)
{
	u8 *guarded = &(*this_cpu_ptr(&gkhi_guarded))[interrupt_context_level()];

	if (READ_ONCE(*guarded))
		return false;
	WRITE_ONCE(*guarded, 1);
	barrier();
	return true;
}

void port_guard_leave(void)
{
	barrier();
	WRITE_ONCE((*this_cpu_ptr(&gkhi_guarded))[interrupt_context_level()], 0);
}

/* -------------------------------------------------------------------------- time */

bool gkhi_clock_is_tsc __ro_after_init;
GKHI_EXPORT(gkhi_clock_is_tsc);

void __init gkhi_clock_init(void)
{
	gkhi_clock_is_tsc = boot_cpu_has(X86_FEATURE_TSC) && boot_cpu_has(X86_FEATURE_NONSTOP_TSC) &&
			    !check_tsc_unstable();
}

u64 gkhi_clock(void)
{
	return gkhi_clock_is_tsc ? gkhi_clock_tsc() : ktime_get_mono_fast_ns();
}
GKHI_EXPORT(gkhi_clock);

uint64_t port_clock(void)
{
	return gkhi_clock();
}

/* -------------------------------------------------------------------------- code */

/* The call of a hook follows its stub when the hook goes on, or goes elsewhere. */
void gkhi_call_update(struct gkhi_hook *hook, void *stub)
{
	if (!hook->call_key || hook->call == stub)
		return;
	__static_call_update(hook->call_key, hook->call_tramp, stub);
	hook->call = stub;
}

static void gkhi_key_switch(struct static_key *key, bool on)
{
	struct gkhi_hook *hook = container_of(key, struct gkhi_hook, key.key);

	if (on) {
		gkhi_call_update(hook, hook->stub);
		static_key_enable(key);
	} else {
		static_key_disable(key);
	}
}

int port_patch(struct port_patch *patches, size_t n)
{
	int failed = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		struct port_patch *p = &patches[i];

		p->status = 0;
		if (p->ours == p->addr)
			gkhi_key_switch(p->addr, p->target);
		else
			p->status = gkhi_marker_switch((void *)p->ours, p->target);
		failed += !!p->status;
	}
	return failed;
}

/* ------------------------------------------------------------------------- names */

const char *port_module_name(const struct gkhi_module *module)
{
	const struct module *mod = module->priv[0];

	return mod ? mod->name : "";
}

const char *port_site_function(const struct gkhi_record *record, const void *code)
{
	static char name[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(name, (unsigned long)code);
	*strchrnul(name, ' ') = '\0';
	return name;
}

atomic64_t port_faults = ATOMIC64_INIT(0);

int port_start(const char **why)
{
	return 0;
}

void port_log(const char *line)
{
	pr_info("gkhi: %s\n", line);
}
