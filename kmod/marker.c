// SPDX-License-Identifier: GPL-2.0-only
/*
 * marker.c - kprobes on marker pads: the event's arguments are read from the
 * registers as the pad's record says.
 *
 *   call                              context
 *   port_detour, gkhi_marker_switch,  task, control lock held
 *   gkhi_markers_wanted
 *   gkhi_markers_drop                 task, markers lock and control lock held
 *   the worker                        task, markers lock; the control lock between
 *                                     registrations only
 *   the handler                       any that a pad runs in, preemption off
 *
 * register_kprobe() may wait for a long time (it shares a mutex with the optimiser,
 * which waits for tasks), so a worker does it outside of the control lock. Until
 * then the pad answers -EINPROGRESS, the core leaves the hook to its static call,
 * and `effective` says `marker (arming)`; when the worker is done it has the core
 * switch the hook once more. So no event is missed on the way, nor recorded twice.
 *
 * A probe that is not wanted any more is disabled, and unregistered only when its
 * module goes: one that is unregistered while it is optimised waits for the
 * optimiser to be taken away, and if its module goes meanwhile the kernel (6.1 to
 * 6.12 at least: kill_optimized_kprobe()) keeps it for ever, at an address where no
 * other can be registered then.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "../hooks/detour.h"
#include "gkhi_core.h"

#define GKHI_MARKER_WORDS	64	/* of a frame */

/**
 * struct gkhi_marker - a pad with its probe
 * @list: all of them (control lock)
 * @todo: of the worker's round
 * @probe: the kernel's
 * @plan: where the arguments are
 * @entry: of the hook
 * @mod: whose text the pad is in
 * @addr: of the pad
 * @wanted: the hook is in state marker
 * @armed: the core may rely on @probe (control lock)
 * @registered: @probe is (markers lock)
 * @enabled: @probe is, too (markers lock)
 * @init: the pad is in init text, which is freed once the module lives
 * @refused: why it could not be registered; 0: it was not tried
 */
struct gkhi_marker {
	struct list_head list;
	struct list_head todo;
	struct kprobe probe;
	struct detour *plan;
	struct gkhi_hook_entry *entry;
	struct module *mod;
	void *addr;
	bool wanted;
	bool armed;
	bool registered;
	bool enabled;
	bool init;
	int refused;
};

static LIST_HEAD(gkhi_markers);
static DEFINE_MUTEX(gkhi_markers_mutex);
static bool gkhi_markers_judging;	/* control lock: the worker's own switch */

static void gkhi_markers_round(struct work_struct *work);
static DECLARE_WORK(gkhi_markers_work, gkhi_markers_round);

/* ----------------------------------------------------------------------- the event */

/* By the numbers that the processor gives registers. */
static void gkhi_marker_regs(struct gkhi_regs *to, const struct pt_regs *regs)
{
	to->r[0] = regs->ax;
	to->r[1] = regs->cx;
	to->r[2] = regs->dx;
	to->r[3] = regs->bx;
	to->r[4] = regs->sp;
	to->r[5] = regs->bp;
	to->r[6] = regs->si;
	to->r[7] = regs->di;
	to->r[8] = regs->r8;
	to->r[9] = regs->r9;
	to->r[10] = regs->r10;
	to->r[11] = regs->r11;
	to->r[12] = regs->r12;
	to->r[13] = regs->r13;
	to->r[14] = regs->r14;
	to->r[15] = regs->r15;
}

static int gkhi_marker_hit(struct kprobe *probe, struct pt_regs *regs)
{
	struct gkhi_marker *marker = container_of(probe, struct gkhi_marker, probe);
	struct detour_context context;
	u64 frame[GKHI_MARKER_WORDS];

	gkhi_marker_regs(&context.regs, regs);
	gkhi_detour_run(marker->plan, &context, frame);
	return 0;
}
NOKPROBE_SYMBOL(gkhi_marker_hit);

/* Pointers that a program hands to its hook are read as a stub reads them. */
bool detour_readable(uint64_t src, size_t n, struct detour_context *context)
{
	u64 at;
	u8 byte;

	if (!n || context->trusted)
		return true;
	if (src + n - 1 < src)
		return false;
	for (at = src; at - src < n; at = (at | ~PAGE_MASK) + 1) {
		if (copy_from_kernel_nofault(&byte, (const void *)at, 1))
			return false;
	}
	return true;
}

int detour_read(void *dst, uint64_t src, size_t n, const struct gkhi_regs *regs)
{
	return copy_from_kernel_nofault(dst, (const void *)src, n) ? -EFAULT : 0;
}

/* -------------------------------------------------------------------------- a pad */

static struct module *gkhi_record_module(const struct gkhi_record *record)
{
	const struct gkhi_object *o;

	for (o = gkhi_core.objects; o; o = o->next) {
		if ((const void *)record >= o->module.sites_start && (const void *)record < o->module.sites_stop)
			return o->module.priv[0];
	}
	return NULL;
}

int port_detour(const struct gkhi_record *record, struct gkhi_hook *hook, const struct gkhi_event *event,
		const void **entry, enum gkhi_why *why)
{
	struct gkhi_marker *marker = kzalloc(sizeof(*marker), GFP_KERNEL);
	int err = -ENOMEM;

	if (marker)
		err = detour_match(record, hook, event, &marker->plan);
	if (!err && (marker->plan->frame_bytes > 8 * GKHI_MARKER_WORDS || marker->plan->flags & DETOUR_F_XMM)) {
		port_free(marker->plan, marker->plan->bytes);
		err = -EINVAL;
	}
	if (err) {
		kfree(marker);
		*why = err == -ENOMEM ? GKHI_WHY_NO_MEMORY : GKHI_WHY_NO_DETOUR;
		return err;
	}
	marker->addr = gkhi_relative(&record->pad);
	marker->entry = hook->priv;
	marker->mod = gkhi_record_module(record);
	marker->init = marker->mod && !within_module_core((unsigned long)marker->addr, marker->mod);
	INIT_LIST_HEAD(&marker->todo);
	list_add_tail(&marker->list, &gkhi_markers);
	*entry = marker;
	return 0;
}

static bool gkhi_marker_behind(const struct gkhi_marker *marker)
{
	return marker->wanted ? !marker->armed && !marker->refused : marker->armed;
}

/* The core has its pads jump, as it says: 0 once the probe is there. */
int gkhi_marker_switch(void *data, bool on)
{
	struct gkhi_marker *marker = data;

	if (!on || marker->armed)
		return 0;
	if (!gkhi_markers_judging)
		marker->refused = 0;		/* asked anew: try anew */
	return marker->refused ? marker->refused : -EINPROGRESS;
}

/* The entry was switched: what its probes are to be follows. */
void gkhi_markers_wanted(struct gkhi_hook_entry *e)
{
	bool behind = false;
	struct gkhi_site *s;

	for (s = e->sites; s; s = s->next) {
		struct gkhi_marker *marker = s->record ? (void *)s->target : NULL;

		if (!marker)
			continue;
		marker->wanted = e->state == GKHI_MARKER;
		behind |= gkhi_marker_behind(marker);
	}
	if (behind && !gkhi_markers_judging)
		queue_work(system_unbound_wq, &gkhi_markers_work);
}

/* The byte that stands there tells what the kernel made of the probe. */
static u8 gkhi_marker_byte(const struct gkhi_marker *marker)
{
	u8 byte = 0;

	copy_from_kernel_nofault(&byte, marker->addr, 1);
	return byte;
}

enum gkhi_why gkhi_markers_why(const struct gkhi_hook_entry *e)
{
	const struct gkhi_site *s;

	for (s = e->sites; s; s = s->next) {
		if (s->record && s->target && s->jumping && gkhi_marker_byte(s->target) != JMP32_INSN_OPCODE)
			return GKHI_WHY_TRAP;
	}
	return GKHI_WHY_OPTIMISED;
}

/* Hits that found a probe at work on the same cpu: lost. */
u64 gkhi_markers_missed(const struct gkhi_hook_entry *e)
{
	const struct gkhi_site *s;
	u64 sum = 0;

	for (s = e->sites; s; s = s->next) {
		const struct gkhi_marker *marker = s->record ? s->target : NULL;

		if (marker)
			sum += READ_ONCE(marker->probe.nmissed);
	}
	return sum;
}

/* ---------------------------------------------------------------------- the worker */

/*
 * A probe that was disabled keeps its jump until the optimiser comes by. One that is
 * enabled before that keeps the kernel's belief in the jump, too, but gets its
 * breakpoint written over it, and stays a trap for good (__arm_kprobe() and
 * optimize_kprobe() of 6.1): so the optimiser is waited for, ten seconds at most.
 */
static void gkhi_marker_await_disarmed(const struct gkhi_marker *marker)
{
	unsigned int tries;

	for (tries = 0; tries < 500 && gkhi_marker_byte(marker) == JMP32_INSN_OPCODE; tries++)
		msleep(20);
}

static int gkhi_marker_register(struct gkhi_marker *marker)
{
	int err;

	if (marker->registered) {
		gkhi_marker_await_disarmed(marker);
		return enable_kprobe(&marker->probe);
	}
	memset(&marker->probe, 0, sizeof(marker->probe));
	marker->probe.addr = marker->addr;
	marker->probe.pre_handler = gkhi_marker_hit;
	err = register_kprobe(&marker->probe);
	marker->registered = !err;
	return err;
}

static int gkhi_marker_arm(struct gkhi_marker *marker)
{
	int err;
	u8 byte;

	if (security_locked_down(LOCKDOWN_KPROBES))
		return -EPERM;
	if (marker->init && marker->mod->state == MODULE_STATE_LIVE)
		return 0;	/* that text has run, and is gone */
	err = gkhi_marker_register(marker);
	if (err) {
		if (marker->mod->state != MODULE_STATE_GOING)
			pr_warn("gkhi: no probe at %pS: error %d\n", marker->addr, err);
		return err == -ENOMEM ? err : -EADDRNOTAVAIL;
	}
	byte = gkhi_marker_byte(marker);
	if (byte == INT3_INSN_OPCODE || byte == JMP32_INSN_OPCODE)
		return 0;
	disable_kprobe(&marker->probe);		/* debugfs kprobes/enabled is 0 */
	return -EOPNOTSUPP;
}

static void gkhi_marker_disarm(struct gkhi_marker *marker)
{
	if (marker->registered)
		disable_kprobe(&marker->probe);
	marker->enabled = false;
}

/* @alive: its module stays, so that the optimiser must be waited for. */
static void gkhi_marker_unregister(struct gkhi_marker *marker, bool alive)
{
	if (!marker->registered)
		return;
	if (alive) {
		disable_kprobe(&marker->probe);
		gkhi_marker_await_disarmed(marker);
	}
	unregister_kprobe(&marker->probe);
	marker->registered = false;
}

/* Control lock held. The core does not rely on a pad any more whose probe is to go. */
static void gkhi_marker_leave(struct gkhi_marker *marker)
{
	struct gkhi_site *s;

	marker->armed = false;

	for (s = marker->entry->sites; s; s = s->next) {
		if (s->record && s->target == marker)
			s->jumping = false;
	}
}

static void gkhi_markers_collect(struct list_head *todo)
{
	struct gkhi_marker *marker;

	list_for_each_entry(marker, &gkhi_markers, list) {
		if (!gkhi_marker_behind(marker))
			continue;
		if (!marker->wanted)
			gkhi_marker_leave(marker);
		list_add_tail(&marker->todo, todo);
	}
}

/* Control lock held: hooks whose probes were tried are switched once more. */
static void gkhi_markers_judge(struct list_head *todo)
{
	struct gkhi_marker *marker, *next;
	bool room = !gkhi_plan_reserve(gkhi_core.n_entries);

	gkhi_markers_judging = true;
	list_for_each_entry_safe(marker, next, todo, todo) {
		list_del_init(&marker->todo);
		marker->armed = marker->enabled;
		if (room && marker->entry->state == GKHI_MARKER)
			gkhi_plan(marker->entry);
	}
	if (gkhi_plan_prepare())
		gkhi_plan_forget();
	else
		gkhi_plan_commit();
	gkhi_markers_judging = false;
}

static void gkhi_markers_round(struct work_struct *work)
{
	struct gkhi_marker *marker;
	LIST_HEAD(todo);

	mutex_lock(&gkhi_markers_mutex);
	port_control_lock();
	gkhi_markers_collect(&todo);
	port_control_unlock();
	list_for_each_entry(marker, &todo, todo) {
		if (marker->enabled) {
			gkhi_marker_disarm(marker);
			continue;
		}
		marker->refused = gkhi_marker_arm(marker);
		marker->enabled = !marker->refused;
	}
	port_control_lock();
	gkhi_markers_judge(&todo);
	list_for_each_entry(marker, &gkhi_markers, list) {
		if (gkhi_marker_behind(marker))		/* changed its mind meanwhile */
			queue_work(system_unbound_wq, &gkhi_markers_work);
	}
	port_control_unlock();
	mutex_unlock(&gkhi_markers_mutex);
}

void gkhi_markers_lock(void)
{
	mutex_lock(&gkhi_markers_mutex);
}

void gkhi_markers_unlock(void)
{
	mutex_unlock(&gkhi_markers_mutex);
}

void gkhi_markers_drop(const struct module *mod, bool alive)
{
	struct gkhi_marker *marker, *next;

	list_for_each_entry_safe(marker, next, &gkhi_markers, list) {
		if (marker->mod != mod)
			continue;
		gkhi_marker_leave(marker);
		gkhi_marker_unregister(marker, alive);
		list_del(&marker->list);
		port_free(marker->plan, marker->plan->bytes);
		kfree(marker);
	}
}

void gkhi_markers_exit(void)
{
	cancel_work_sync(&gkhi_markers_work);
}
