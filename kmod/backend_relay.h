/* SPDX-License-Identifier: GPL-2.0-only */
/* backend_relay.h - what the files of gkhi_relay.ko share: channels in mode managed or adhoc. */
#ifndef GKHI_KMOD_BACKEND_RELAY_H
#define GKHI_KMOD_BACKEND_RELAY_H

#include "adhoc.h"
#include "data.h"
#include "relay.h"

/* As the grammar of batches numbers them. */
enum relay_mode {
	RELAY_MANAGED = 0,
	RELAY_ADHOC = 1,
};

/*
 * struct relay_open_record - of a client, between reserve and commit
 * @flags: managed: of the interrupts
 * @position, @time, @words: ad-hoc
 */
struct relay_open_record {
	unsigned long flags;
	u64 position;
	u64 time;
	u32 words;
};

#define RELAY_CONTEXTS	4	/* task, softirq, hardirq, NMI */

struct relay_open_records {
	struct relay_open_record context[RELAY_CONTEXTS];
};

struct relay_channel {
	enum relay_mode mode;
	u32 stream_class;
	struct krelay managed;
	struct kadhoc adhoc;
	struct relay_open_records __percpu *open;
	struct gkhi_data *data;
};

/* relay_data.c */
extern const struct gkhi_data_ops relay_managed_ops, relay_adhoc_ops;
void relay_channel_free(void *transport);

#endif
