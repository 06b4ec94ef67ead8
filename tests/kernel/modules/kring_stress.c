// SPDX-License-Identifier: GPL-2.0-only
/*
 * kring_stress.c - the ring under task, softirq, hardirq and NMI at once, read
 * while it is written. Every record says who wrote it and its number there, so
 * that the reader can tell torn, doubled, missing and misordered ones.
 *
 *   echo "SECONDS [plant]" > /sys/module/kring_stress/parameters/run
 *
 * plant=1 reads the clock before the reservation instead of inside it (against
 * R1); plant=2 commits before the record is written (against R3): the check
 * must then complain. The result is the read side of the same parameter.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/nmi.h>

#include "ring.h"

#define WRITERS 4		/* task, softirq, hardirq, NMI */
#define EVENT_ID 7

struct per_context {
	u64 fired;
	u64 next;		/* the reader's: number expected next */
};

struct stream {
	struct per_context context[WRITERS];
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct task_struct *task;
	u64 last_time, last_end, expect_count;
	u64 read, overwritten;
};

static struct kring ring;
static DEFINE_PER_CPU(struct stream, streams);
static bool running;
static int plant;
static u64 torn, backwards, twice, headers, gaps;
static char result[512];

static __always_inline u64 stress_clock(void)
{
	return rdtsc_ordered();
}

static u64 stress_clock_call(void)
{
	return stress_clock();
}

static notrace void fire(int who)
{
	struct kring_cpu *c;
	struct stream *s;
	u64 time, early, *p, n;
	u32 words;

	preempt_disable_notrace();
	c = this_cpu_ptr(ring.cpu);
	s = this_cpu_ptr(&streams);
	n = s->context[who].fired++;
	words = 3 + n % 5;
	early = stress_clock();
	p = kring_reserve(c, words, &time, stress_clock);
	if (p) {
		u32 i;

		if (plant == 1)
			time = early;
		if (plant == 2)
			kring_commit(c, p, words);
		p[0] = time << 16 | EVENT_ID;
		p[1] = (u64)who << 56 | (u64)words << 48 | n;
		for (i = 2; i < words; i++)
			p[i] = ~(p[1] + i);
		if (plant != 2)
			kring_commit(c, p, words);
	}
	preempt_enable_notrace();
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct stream *s = this_cpu_ptr(&streams);
	int i;

	for (i = 0; i < 3; i++)
		fire(2);
	tasklet_schedule(&s->tasklet);
	hrtimer_forward_now(timer, ns_to_ktime(40000));
	return READ_ONCE(running) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static void on_tasklet(struct tasklet_struct *t)
{
	int i;

	for (i = 0; i < 5; i++)
		fire(1);
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	int i;

	if (!READ_ONCE(running))
		return NMI_DONE;
	for (i = 0; i < 4; i++)
		fire(3);
	return NMI_HANDLED;
}

static int on_task(void *unused)
{
	struct stream *s = raw_cpu_ptr(&streams);
	u64 n = 0;

	hrtimer_init(&s->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	s->timer.function = on_timer;
	hrtimer_start(&s->timer, ns_to_ktime(40000), HRTIMER_MODE_REL_PINNED_HARD);
	while (!kthread_should_stop()) {
		fire(0);
		if (!(++n & 255))
			cond_resched();
	}
	hrtimer_cancel(&s->timer);
	tasklet_kill(&s->tasklet);
	return 0;
}

static void check_record(struct stream *s, const u64 *p, u64 base, u32 *words)
{
	u32 who = p[1] >> 56, i;
	u64 n = p[1] & ((1ull << 48) - 1), time = base + (((p[0] >> 16) - base) & ((1ull << 48) - 1));

	*words = p[1] >> 48 & 0xff;
	if ((p[0] & 0xffff) != EVENT_ID || who >= WRITERS || *words < 3 || *words > 7) {
		torn++;
		*words = 0;
		return;
	}
	for (i = 2; i < *words; i++)
		if (p[i] != ~(p[1] + i)) {
			torn++;
			break;
		}
	if (time < s->last_time)
		backwards++;
	s->last_time = time;
	if (n < s->context[who].next)
		twice++;
	s->context[who].next = n + 1;
	s->read++;
}

static void check_packet(struct stream *s, struct gkhi_packet *p, u64 missed, u32 cpu)
{
	const u64 *at = (u64 *)p + GKHI_PACKET_HEADER / 8, *end = (u64 *)p + p->content_size / 64;
	u64 before = s->read;
	u32 words;

	if (p->magic != GKHI_CTF_MAGIC || p->cpu_id != cpu || p->content_size > p->packet_size ||
	    p->timestamp_end < p->timestamp_begin || p->timestamp_begin < s->last_end) {
		headers++;
		return;
	}
	/* count_begin tells exactly what was overwritten unread; else it must fit */
	if (p->count_begin != s->expect_count) {
		if (missed && p->count_begin > s->expect_count)
			s->overwritten += p->count_begin - s->expect_count;
		else
			gaps++;
	}
	s->last_time = p->timestamp_begin;
	for (; at < end; at += words) {
		check_record(s, at, p->timestamp_begin, &words);
		if (!words)
			break;
	}
	if (s->last_time > p->timestamp_end)
		backwards++;
	s->last_end = p->timestamp_end;
	s->expect_count = p->count_begin + s->read - before;
}

static void drain(struct gkhi_packet *copy)
{
	u64 missed;
	int cpu;

	for_each_online_cpu(cpu)
		while (kring_read_packet(per_cpu_ptr(ring.cpu, cpu), copy, &missed))
			check_packet(&per_cpu(streams, cpu), copy, missed, cpu);
}

static void close_here(void *unused)
{
	kring_close_packet(this_cpu_ptr(ring.cpu));
}

static int start_writers(void)
{
	int cpu;

	WRITE_ONCE(running, true);
	for_each_online_cpu(cpu) {
		struct stream *s = &per_cpu(streams, cpu);

		memset(s, 0, sizeof(*s));
		tasklet_setup(&s->tasklet, on_tasklet);
		s->task = kthread_create(on_task, NULL, "kring/%d", cpu);
		if (IS_ERR(s->task))
			return PTR_ERR(s->task);
		kthread_bind(s->task, cpu);
		wake_up_process(s->task);
	}
	return 0;
}

static void report(void)
{
	u64 fired[WRITERS] = {}, total = 0, read = 0, lost = 0, overwritten = 0;
	bool bad;
	int cpu, i;

	for_each_online_cpu(cpu) {
		struct stream *s = &per_cpu(streams, cpu);
		struct kring_cpu *c = per_cpu_ptr(ring.cpu, cpu);

		for (i = 0; i < WRITERS; i++) {
			fired[i] += s->context[i].fired;
			total += s->context[i].fired;
		}
		for (i = 0; i < GKHI_N_LOST_REASONS; i++)
			lost += c->lost[i];
		read += s->read;
		overwritten += s->overwritten;
	}
	bad = torn || backwards || twice || headers || gaps || total != read + lost + overwritten;
	snprintf(result, sizeof(result),
		 "%s task %llu softirq %llu hardirq %llu nmi %llu fired %llu read %llu lost %llu overwritten %llu torn %llu backwards %llu twice %llu headers %llu gaps %llu\n",
		 bad ? "BAD" : "GOOD", fired[0], fired[1], fired[2], fired[3], total, read, lost, overwritten,
		 torn, backwards, twice, headers, gaps);
}

static int run_stress(unsigned int seconds)
{
	struct gkhi_packet *copy = vmalloc(ring.subbuf_size);
	unsigned long end = jiffies + seconds * HZ;
	int cpu, err;

	if (!copy)
		return -ENOMEM;
	torn = backwards = twice = headers = gaps = 0;
	err = kring_alloc(&ring);
	if (err)
		goto out;
	err = start_writers();
	while (!err && time_before(jiffies, end)) {
		drain(copy);
		usleep_range(50, 100);
	}
	for_each_online_cpu(cpu)
		if (!IS_ERR_OR_NULL(per_cpu(streams, cpu).task))
			kthread_stop(per_cpu(streams, cpu).task);
	WRITE_ONCE(running, false);
	synchronize_rcu();
	on_each_cpu(close_here, NULL, 1);
	drain(copy);
	report();
	kring_free(&ring);
out:
	vfree(copy);
	return err;
}

static int run_set(const char *value, const struct kernel_param *kp)
{
	unsigned int seconds;

	plant = 0;
	if (sscanf(value, "%u %d", &seconds, &plant) < 1)
		return -EINVAL;
	return run_stress(seconds);
}

static int run_get(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%s", result);
}

static const struct kernel_param_ops run_ops = { .set = run_set, .get = run_get };
module_param_cb(run, &run_ops, NULL, 0600);

static uint subbuf_size = 4096, n_subbufs = 16;
module_param(subbuf_size, uint, 0600);
module_param(n_subbufs, uint, 0600);

static int __init kring_stress_init(void)
{
	ring.subbuf_size = subbuf_size;
	ring.n_subbufs = n_subbufs;
	ring.clock = stress_clock_call;
	return register_nmi_handler(NMI_UNKNOWN, on_nmi, 0, "kring_stress");
}

static void __exit kring_stress_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "kring_stress");
}

module_init(kring_stress_init);
module_exit(kring_stress_exit);
MODULE_DESCRIPTION("Stress test of the gkhi ring");
MODULE_LICENSE("GPL");
