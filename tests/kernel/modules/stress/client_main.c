// SPDX-License-Identifier: GPL-2.0-only
/*
 * client.c - a kernel client that writes its own bytes to a channel,
 * without hooks and without YAML.
 *
 *   echo "COUNT CONTEXT CHANNEL..." > .../parameters/write     CHANNEL... as in a batch
 *
 * Record i is 1 + i % 40 words: i, then ~i ^ k. CONTEXT: task, irq (interrupts off,
 * from an IPI, one cpu after the other).
 */
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "compat.h"

#include <gkhi/channel_api.h>

struct job {
	struct gkhi_channel *channel;
	u64 next;
	u64 end;
	int err;
};

static u64 refused;
module_param_named(refused, refused, ullong, 0400);
MODULE_PARM_DESC(refused, "records that found no room");

static void write_record(struct gkhi_channel *channel, u64 i)
{
	u64 *to = gkhi_channel_reserve(channel, 8 * (1 + i % 40));
	u64 k;

	if (!to) {
		refused++;
		return;
	}
	to[0] = i;
	for (k = 1; k <= i % 40; k++)
		to[k] = ~i ^ k;
	gkhi_channel_commit(channel, to);
}

static void write_some(void *data)
{
	struct job *job = data;
	u64 end = min(job->end, job->next + 100);

	for (; job->next < end; job->next++)
		write_record(job->channel, job->next);
}

static int run(struct job *job, const char *context)
{
	int cpu;

	if (!strcmp(context, "task")) {
		while (job->next < job->end) {
			write_some(job);
			cond_resched();
		}
		return 0;
	}
	if (strcmp(context, "irq"))
		return -EINVAL;
	while (job->next < job->end)
		for_each_online_cpu(cpu)
			smp_call_function_single(cpu, write_some, job, 1);
	return 0;
}

static int write_set(const char *value, const struct kernel_param *kp)
{
	struct job job = {};
	char context[8], error[160], what[128];
	int at, err;

	if (sscanf(value, "%llu %7s %n", &job.end, context, &at) < 2)
		return -EINVAL;
	strscpy(what, value + at, sizeof(what));
	strim(what);
	err = gkhi_channel_open(what, &job.channel, error, sizeof(error));
	if (err) {
		pr_info("client: %s\n", error);
		return err;
	}
	err = run(&job, context);
	gkhi_channel_close(job.channel);
	return err;
}

static const struct kernel_param_ops write_ops = { .set = write_set };
module_param_cb(write, &write_ops, NULL, 0200);

static int __init client_init(void)
{
	return 0;
}

static void __exit client_exit(void)
{
}

module_init(client_init);
module_exit(client_exit);
MODULE_DESCRIPTION("A client of gkhi's channels");
MODULE_LICENSE("GPL");
GKHI_IMPORT;
