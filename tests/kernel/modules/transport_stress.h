/* SPDX-License-Identifier: GPL-2.0-only */
/* transport_stress.h - what its files share. */
#ifndef TRANSPORT_STRESS_H
#define TRANSPORT_STRESS_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/types.h>

#include "adhoc.h"

#define WRITERS 4		/* task, softirq, hardirq, NMI */
#define EVENT_ID 7

enum kind { RING, DISCARD, RELAY, ADHOC };

struct per_context {
	u64 fired;
	u64 next;		/* the reader's: number expected next */
};

struct stream {
	struct per_context context[WRITERS];
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct task_struct *task;
	u64 cursor;
	struct kadhoc_cursor adhoc_cursor;
	u64 last_time, last_end, expect_count;
	u64 read, overwritten;
};

/* What the reader found that must not be. */
struct faults {
	u64 torn;
	u64 backwards;
	u64 twice;
	u64 headers;
	u64 gaps;
	u64 asleep;
};

extern struct faults found;
extern enum kind kind;

/* A packet of @cpu's stream, record by record. */
void check_packet(struct stream *s, struct gkhi_packet *p, u32 cpu);

#endif
