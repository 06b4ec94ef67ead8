// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress_main.c - fires numbered events from a task, a timer (softirq) and a high
 * resolution timer (hardirq) on every cpu. Numbers are given out by evaluating an
 * argument, which happens only in a hook that is on.
 *
 * Parameters: run (0 or 1), fired (numbers given out), calls (times that a hook was
 * passed, on or off), say (one event with every kind of field).
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/timer.h>

#include "stress_events.h"

#define CONTEXTS	3

struct stress_cpu {
	u64 seq[CONTEXTS];
	u64 calls[CONTEXTS];
	struct task_struct *task;
	struct timer_list timer;
	struct hrtimer hrtimer;
};

static DEFINE_PER_CPU(struct stress_cpu, stress_cpus);
static bool running;

static noinline void stress_fire(struct stress_cpu *c, u32 context)
{
	c->calls[context]++;
	gkhi_stress_tick(++c->seq[context], raw_smp_processor_id(), context);
}

static int stress_task(void *data)
{
	struct stress_cpu *c = data;
	int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 50; i++)
			stress_fire(c, 0);
		cond_resched();
		if (!(c->calls[0] % 1000))
			schedule_timeout_interruptible(1);
	}
	return 0;
}

static void stress_timer(struct timer_list *timer)
{
	struct stress_cpu *c = container_of(timer, struct stress_cpu, timer);
	int i;

	for (i = 0; i < 20; i++)
		stress_fire(c, 1);
	mod_timer(timer, jiffies + 1);
}

static enum hrtimer_restart stress_hrtimer(struct hrtimer *timer)
{
	struct stress_cpu *c = container_of(timer, struct stress_cpu, hrtimer);
	int i;

	for (i = 0; i < 5; i++)
		stress_fire(c, 2);
	hrtimer_forward_now(timer, ns_to_ktime(500 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void stress_start_hrtimer(void *unused)
{
	hrtimer_start(&this_cpu_ptr(&stress_cpus)->hrtimer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED_HARD);
}

static void stress_stop(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct stress_cpu *c = per_cpu_ptr(&stress_cpus, cpu);

		if (!IS_ERR_OR_NULL(c->task))
			kthread_stop(c->task);
		c->task = NULL;
		timer_delete_sync(&c->timer);
		hrtimer_cancel(&c->hrtimer);
	}
	running = false;
}

static int stress_start(void)
{
	int cpu;

	running = true;
	for_each_online_cpu(cpu) {
		struct stress_cpu *c = per_cpu_ptr(&stress_cpus, cpu);

		c->task = kthread_create_on_cpu(stress_task, c, cpu, "stress/%u");
		if (IS_ERR(c->task)) {
			stress_stop();
			return -ENOMEM;
		}
		wake_up_process(c->task);
		c->timer.expires = jiffies + 1;
		add_timer_on(&c->timer, cpu);
	}
	on_each_cpu(stress_start_hrtimer, NULL, 1);
	return 0;
}

static int run_set(const char *text, const struct kernel_param *kp)
{
	bool run;
	int err = kstrtobool(text, &run);

	if (err || run == running)
		return err;
	if (run)
		return stress_start();
	stress_stop();
	return 0;
}

static int run_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", running);
}

static const struct kernel_param_ops run_ops = { .set = run_set, .get = run_get };
module_param_cb(run, &run_ops, NULL, 0600);

static int sum_get(char *buf, const struct kernel_param *kp)
{
	u64 sum = 0;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct stress_cpu *c = per_cpu_ptr(&stress_cpus, cpu);

		for (i = 0; i < CONTEXTS; i++)
			sum += kp->arg ? c->calls[i] : c->seq[i];
	}
	return sysfs_emit(buf, "%llu\n", sum);
}

static const struct kernel_param_ops sum_ops = { .get = sum_get };
module_param_cb(fired, &sum_ops, NULL, 0400);
module_param_cb(calls, &sum_ops, (void *)1, 0400);

static int say_set(const char *text, const struct kernel_param *kp)
{
	static const u8 mac[6] = { 0, 1, 2, 0xfd, 0xfe, 0xff };
	static const u32 list[3] = { 1, 20, 300 };
	static u64 seq;

	gkhi_stress_words(200, -3, true, (void *)0x1234, mac, text, list, ARRAY_SIZE(list), mac, sizeof(mac));
	gkhi_stress_bare(++seq, text);
	return 0;
}

static const struct kernel_param_ops say_ops = { .set = say_set };
module_param_cb(say, &say_ops, NULL, 0200);

static int __init stress_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stress_cpu *c = per_cpu_ptr(&stress_cpus, cpu);

		timer_setup(&c->timer, stress_timer, TIMER_PINNED);
		hrtimer_init(&c->hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		c->hrtimer.function = stress_hrtimer;
	}
	gkhi_stress_born(current->pid);
	return 0;
}

static void __exit stress_exit(void)
{
	stress_stop();
}

module_init(stress_init);
module_exit(stress_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Fires numbered events from every context");
