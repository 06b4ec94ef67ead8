// SPDX-License-Identifier: GPL-2.0-only
/*
 * transport_stress.c - a transport under task, softirq, hardirq and NMI at once,
 * read while it is written. Every record says who wrote it and its number there,
 * so that the reader can tell torn, doubled, missing and misordered ones.
 *
 *   echo "ring|discard|relay|adhoc EVENTS [PLANT]" > .../parameters/run
 *
 * Goes on until so many events were fired, then reads the rest and balances the
 * books: fired = read + lost + overwritten. The result is the read side of the same
 * parameter. Faults that the check must see, when they are planted:
 *   1  the clock is read before the reservation, instead of inside it
 *   2  the record is committed before it is written (not in a relay: there a reader
 *      sees packets that a later event has ended)
 *   3  lost events are not counted
 *   4  relay: nested contexts do not heed the busy flag; the others: every 1000th
 *      event is written twice
 *   5  the reader is not woken (nobody is by an ad-hoc buffer)
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/nmi.h>

#include "relay.h"
#include "ring.h"
#include "transport_stress.h"

enum plant { NO_PLANT, EARLY_CLOCK, EARLY_COMMIT, LOSS_HIDDEN, NESTED, NO_WAKEUP };

static const char *const kinds[] = { "ring", "discard", "relay", "adhoc" };

static uint subbuf_size = 4096, n_subbufs = 16;
module_param(subbuf_size, uint, 0600);
module_param(n_subbufs, uint, 0600);

static struct kring ring;
static struct krelay relay;
static struct kadhoc adhoc;
enum kind kind;
static enum plant plant;
static DEFINE_PER_CPU(struct stream, streams);
static bool running;
struct faults found;
static char result[512];

static __always_inline u64 stress_clock(void)
{
	return rdtsc_ordered();
}

static u64 stress_clock_call(void)
{
	return stress_clock();
}

/* A planted fault waits for a while, so that somebody may come across it. */
static __always_inline void dawdle(enum plant fault, u64 n)
{
	u32 i;

	for (i = 0; plant == fault && n % 8 == 0 && i < 600; i++)
		cpu_relax();
}

static __always_inline void fill(u64 *p, u64 time, int who, u64 n, u32 words)
{
	u32 i;

	p[0] = time << 16 | EVENT_ID;
	p[1] = (u64)who << 56 | (u64)words << 48 | n;
	for (i = 2; i < words; i++)
		p[i] = ~(p[1] + i);
}

static notrace void to_ring(int who, u64 n, u32 words)
{
	struct kring_cpu *c = this_cpu_ptr(ring.cpu);
	u64 early = stress_clock(), time, *p;

	dawdle(EARLY_CLOCK, n);
	p = kring_reserve(c, words, &time, stress_clock);
	if (!p) {
		if (plant == LOSS_HIDDEN)
			c->lost[GKHI_LOST_FULL]--;
		return;
	}
	if (plant == EARLY_COMMIT)
		kring_commit(c, p, words);
	dawdle(EARLY_COMMIT, n);
	fill(p, plant == EARLY_CLOCK ? early : time, who, n, words);
	if (plant != EARLY_COMMIT)
		kring_commit(c, p, words);
}

static notrace void to_relay(int who, u64 n, u32 words)
{
	struct krelay_cpu *c;
	u64 early = stress_clock(), time, *p;
	unsigned long flags;

	dawdle(EARLY_CLOCK, n);
	local_irq_save(flags);
	c = this_cpu_ptr(relay.cpu);
	if (plant == NESTED)
		WRITE_ONCE(c->busy, 0);
	p = krelay_begin(c, words, &time, stress_clock);
	if (!p && plant == LOSS_HIDDEN && c->lost[GKHI_LOST_FULL])
		c->lost[GKHI_LOST_FULL]--;
	if (p) {
		dawdle(NESTED, n);
		fill(p, plant == EARLY_CLOCK ? early : time, who, n, words);
		krelay_end(c);
	}
	local_irq_restore(flags);
}

static notrace void to_adhoc(int who, u64 n, u32 words)
{
	struct kadhoc_cpu *c = this_cpu_ptr(adhoc.cpu);
	u64 early = stress_clock(), time, position, *p;

	dawdle(EARLY_CLOCK, n);
	p = kadhoc_reserve(c, &position, &time, stress_clock);
	if (plant == EARLY_COMMIT)
		kadhoc_commit(p, position, words, time);
	dawdle(EARLY_COMMIT, n);
	fill(p, plant == EARLY_CLOCK ? early : time, who, n, words);
	if (plant != EARLY_COMMIT)
		kadhoc_commit(p, position, words, time);
}

static __always_inline void write_event(int who, u64 n, u32 words)
{
	if (kind == RELAY)
		to_relay(who, n, words);
	else if (kind == ADHOC)
		to_adhoc(who, n, words);
	else
		to_ring(who, n, words);
}

static notrace void fire(int who)
{
	struct stream *s;
	u64 n;

	preempt_disable_notrace();
	s = this_cpu_ptr(&streams);
	n = s->context[who].fired++;
	write_event(who, n, 3 + n % 5);
	if (plant == NESTED && kind != RELAY && n % 1000 == 999)
		write_event(who, n, 3 + n % 5);
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

	if (!smp_load_acquire(&running))
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

static int read_packet(struct stream *s, int cpu, struct gkhi_packet *copy)
{
	struct kring_cpu *c;

	if (kind == RELAY)
		return krelay_read_packet(&relay, cpu, copy);
	if (kind == ADHOC)
		return kadhoc_read_packet(per_cpu_ptr(adhoc.cpu, cpu), &s->adhoc_cursor, copy);
	c = per_cpu_ptr(ring.cpu, cpu);
	if (!kring_read_packet(c, &s->cursor, copy))
		return 0;
	if (kind == DISCARD)
		kring_consume(c, s->cursor);
	return 1;
}

static void drain(struct gkhi_packet *copy)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct stream *s = &per_cpu(streams, cpu);

		while (read_packet(s, cpu, copy))
			check_packet(s, copy, cpu);
	}
}

static void close_here(void *unused)
{
	kring_close_packet(this_cpu_ptr(ring.cpu));
}

static void flush(void)
{
	if (kind == RELAY)
		krelay_flush(&relay);
	else if (kind != ADHOC)
		on_each_cpu(close_here, NULL, 1);
}

static int open_transport(void)
{
	ring.subbuf_size = relay.subbuf_size = adhoc.packet_size = subbuf_size;
	ring.n_subbufs = relay.n_subbufs = n_subbufs;
	adhoc.size = subbuf_size * n_subbufs;
	if (kind == RELAY)
		return krelay_alloc(&relay);
	if (kind == ADHOC)
		return kadhoc_alloc(&adhoc);
	ring.discard = kind == DISCARD;
	return kring_alloc(&ring);
}

static void close_transport(void)
{
	if (kind == RELAY)
		krelay_free(&relay);
	else if (kind == ADHOC)
		kadhoc_free(&adhoc);
	else
		kring_free(&ring);
}

static const u64 *lost_of(int cpu)
{
	return kind == RELAY ? per_cpu_ptr(relay.cpu, cpu)->lost :
	       kind == ADHOC ? per_cpu_ptr(adhoc.cpu, cpu)->lost : per_cpu_ptr(ring.cpu, cpu)->lost;
}

static int start_writers(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		memset(&per_cpu(streams, cpu), 0, sizeof(struct stream));
	/* from here on NMIs fire, on all cpus */
	smp_store_release(&running, true);
	for_each_online_cpu(cpu) {
		struct stream *s = &per_cpu(streams, cpu);

		tasklet_setup(&s->tasklet, on_tasklet);
		s->task = kthread_create(on_task, NULL, "stress/%d", cpu);
		if (IS_ERR(s->task))
			return PTR_ERR(s->task);
		kthread_bind(s->task, cpu);
		wake_up_process(s->task);
	}
	return 0;
}

static void report(void)
{
	u64 fired[WRITERS] = {}, by_reason[GKHI_N_LOST_REASONS] = {}, total = 0, read = 0, lost = 0, overwritten = 0;
	bool bad;
	int cpu, i;

	for_each_online_cpu(cpu) {
		struct stream *s = &per_cpu(streams, cpu);

		for (i = 0; i < WRITERS; i++) {
			fired[i] += s->context[i].fired;
			total += s->context[i].fired;
		}
		for (i = 0; i < GKHI_N_LOST_REASONS; i++) {
			by_reason[i] += READ_ONCE(lost_of(cpu)[i]);
			lost += READ_ONCE(lost_of(cpu)[i]);
		}
		read += s->read;
		overwritten += s->overwritten;
	}
	bad = found.torn || found.backwards || found.twice || found.headers || found.gaps || found.asleep ||
	      total != read + lost + overwritten;
	snprintf(result, sizeof(result),
		 "%s %s task %llu softirq %llu hardirq %llu nmi %llu fired %llu read %llu lost %llu (full %llu contention %llu) overwritten %llu torn %llu backwards %llu twice %llu headers %llu gaps %llu asleep %llu\n",
		 bad ? "BAD" : "GOOD", kinds[kind], fired[0], fired[1], fired[2], fired[3], total, read, lost,
		 by_reason[GKHI_LOST_FULL], by_reason[GKHI_LOST_CONTENTION], overwritten,
		 found.torn, found.backwards, found.twice, found.headers, found.gaps, found.asleep);
}

static u64 fired_so_far(void)
{
	u64 sum = 0;
	int cpu, i;

	for_each_online_cpu(cpu)
		for (i = 0; i < WRITERS; i++)
			sum += READ_ONCE(per_cpu(streams, cpu).context[i].fired);
	return sum;
}

/*
 * Sleep until @cpu's stream has something. The writers never rest: who is not woken
 * within seconds has missed it.
 */
static void wait_for_packet(int cpu)
{
	struct kring_cpu *c = kind == RELAY ? NULL : per_cpu_ptr(ring.cpu, cpu);
	struct krelay_cpu *r = kind == RELAY ? per_cpu_ptr(relay.cpu, cpu) : NULL;
	wait_queue_head_t *readers = r ? &r->readers : &c->readers;
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(nobodys);
	long left;

	if (plant == NO_WAKEUP)
		readers = &nobodys;
	left = wait_event_timeout(*readers, r ? krelay_readable(&relay, cpu) :
				  kring_readable(c, per_cpu(streams, cpu).cursor), plant == NO_WAKEUP ? HZ : 5 * HZ);
	if (left <= 1)
		found.asleep++;
}

static void run_reader(u64 events, struct gkhi_packet *copy)
{
	unsigned long again = jiffies;
	int cpu = cpumask_first(cpu_online_mask);
	u64 turn;

	for (turn = 0; fired_so_far() < events; turn++) {
		drain(copy);
		if (kind == ADHOC || turn % 2)
			usleep_range(50, 100);
		else
			wait_for_packet(cpu);
		cpu = cpumask_next_wrap(cpu, cpu_online_mask, -1, false);
		if (time_after(jiffies, again)) {	/* packets are ended from outside, too */
			flush();
			again = jiffies + HZ / 10;
		}
	}
}

static int run_stress(u64 events)
{
	struct gkhi_packet *copy = vmalloc(subbuf_size);
	int cpu, err;

	if (!copy)
		return -ENOMEM;
	memset(&found, 0, sizeof(found));
	err = open_transport();
	if (err)
		goto out;
	err = start_writers();
	if (!err)
		run_reader(events, copy);
	for_each_online_cpu(cpu)
		if (!IS_ERR_OR_NULL(per_cpu(streams, cpu).task))
			kthread_stop(per_cpu(streams, cpu).task);
	WRITE_ONCE(running, false);
	synchronize_rcu();
	drain(copy);	/* room for the packet that a flush opens */
	flush();
	drain(copy);
	report();
	close_transport();
out:
	vfree(copy);
	return err;
}

static int run_set(const char *value, const struct kernel_param *kp)
{
	char name[16];
	u64 events;
	int i, planted = 0;

	if (sscanf(value, "%15s %llu %d", name, &events, &planted) < 2)
		return -EINVAL;
	i = match_string(kinds, ARRAY_SIZE(kinds), name);
	if (i < 0)
		return i;
	kind = i;
	plant = planted;
	return run_stress(events);
}

static int run_get(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%s", result);
}

static const struct kernel_param_ops run_ops = { .set = run_set, .get = run_get };
module_param_cb(run, &run_ops, NULL, 0600);

static int __init stress_init(void)
{
	ring.clock = relay.clock = adhoc.clock = stress_clock_call;
	return register_nmi_handler(NMI_UNKNOWN, on_nmi, 0, "transport_stress");
}

static void __exit stress_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "transport_stress");
}

module_init(stress_init);
module_exit(stress_exit);
MODULE_DESCRIPTION("Stress test of gkhi transports");
MODULE_LICENSE("GPL");
