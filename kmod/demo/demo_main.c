// SPDX-License-Identifier: GPL-2.0-only
/*
 * demo_main.c - a small subsystem with hooks: /dev/gkhi_demo keeps the last text
 * that was written and hands it back; a timer (softirq) and a high resolution timer
 * (hardirq) run beside it.
 *
 * All there is to do for hooks is demo.yaml, two lines of Kbuild, and the calls of
 * gkhi_demo_*() below. The module uses no symbol of gkhi.ko.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "demo_events.h"

static unsigned int flush_ms = 10;
module_param(flush_ms, uint, 0444);
MODULE_PARM_DESC(flush_ms, "period of the flush timer (softirq), 0: none");
static unsigned int beat_us = 1000;
module_param(beat_us, uint, 0444);
MODULE_PARM_DESC(beat_us, "period of the heartbeat (hardirq), 0: none");

static DEFINE_MUTEX(demo_lock);
static char demo_text[4096];
static size_t demo_len;
static u64 demo_total;

static ssize_t demo_read(struct file *file, char __user *to, size_t len, loff_t *at)
{
	ssize_t n;

	mutex_lock(&demo_lock);
	n = simple_read_from_buffer(to, len, at, demo_text, demo_len);
	if (n > 0)
		demo_total += n;
	gkhi_demo_transfer(GKHI_DEMO_SIDE_READER, n > 0 ? n : 0, demo_total, current->comm);
	mutex_unlock(&demo_lock);
	return n;
}

static ssize_t demo_write(struct file *file, const char __user *from, size_t len, loff_t *at)
{
	loff_t start = 0;
	ssize_t n;

	mutex_lock(&demo_lock);
	n = simple_write_to_buffer(demo_text, sizeof(demo_text), &start, from, len);
	if (n > 0) {
		demo_len = n;
		demo_total += n;
	}
	gkhi_demo_transfer(GKHI_DEMO_SIDE_WRITER, n > 0 ? n : 0, demo_total, current->comm);
	mutex_unlock(&demo_lock);
	return n;
}

static const struct file_operations demo_fops = {
	.owner = THIS_MODULE,
	.read = demo_read,
	.write = demo_write,
	.llseek = default_llseek,
};

static struct miscdevice demo_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gkhi_demo",
	.fops = &demo_fops,
	.mode = 0666,
};

static void demo_flush(struct timer_list *timer)
{
	static u64 seq;

	seq++;
	gkhi_demo_flush(seq, READ_ONCE(demo_len));
	gkhi_demo_checkpoint(seq);
	mod_timer(timer, jiffies + msecs_to_jiffies(flush_ms));
}

static DEFINE_TIMER(demo_timer, demo_flush);

static enum hrtimer_restart demo_beat(struct hrtimer *timer)
{
	static u64 seq;

	gkhi_demo_beat(++seq, ktime_to_ns(ktime_sub(ktime_get(), hrtimer_get_expires(timer))));
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_USEC * beat_us));
	return HRTIMER_RESTART;
}

static struct hrtimer demo_hrtimer;

static int __init demo_init(void)
{
	int err = misc_register(&demo_device);

	if (err)
		return err;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&demo_hrtimer, demo_beat, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
#else
	hrtimer_init(&demo_hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	demo_hrtimer.function = demo_beat;
#endif
	if (flush_ms)
		mod_timer(&demo_timer, jiffies + msecs_to_jiffies(flush_ms));
	if (beat_us)
		hrtimer_start(&demo_hrtimer, ns_to_ktime(NSEC_PER_USEC * beat_us), HRTIMER_MODE_REL_HARD);
	return 0;
}

static void __exit demo_exit(void)
{
	hrtimer_cancel(&demo_hrtimer);
	timer_delete_sync(&demo_timer);
	misc_deregister(&demo_device);
}

module_init(demo_init);
module_exit(demo_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A subsystem with hooks, to look at and to try gkhi on");
