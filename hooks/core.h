/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * core.h - the core's inside: registry, states, batches, dispatch. Shared by
 * the files of hooks/, the ports and the tests; not installed.
 *
 *   who calls                       in which context              may run against
 *   gkhi_core_*, gkhi_batch_*       control lock held, T          dispatch, gate
 *   gkhi_dispatch                   any, signal handlers too      everything
 */
#ifndef GKHI_CORE_H
#define GKHI_CORE_H

#include <gkhi/channel.h>

#include "port.h"

struct gkhi_module;

/* What a stub's slow path and a detour's generic path call. General registers only. */
void gkhi_dispatch(struct gkhi_hook *hook, const uint64_t *frame);

/* @n operands of a marker's event could not be read; told before it is dispatched. Any context. */
void gkhi_faulted(struct gkhi_hook *hook, uint64_t n);

/* Objects come and go (module.c). 0 or -errno. */
int gkhi_core_add(struct gkhi_module *module);
void gkhi_core_remove(struct gkhi_module *module);

/* gkhi_batch_run flags */
#define GKHI_BATCH_LATER	0x01	/* patterns without a match wait for later objects (GKHI=) */

/* Run a batch (batch.c): all or nothing. 0, or -errno with the reason in @error. */
int gkhi_batch_run(const char *text, size_t len, unsigned int flags, char *error, size_t error_size);

/* For listings, in order of name; NULL ends. */
struct gkhi_hook_entry *gkhi_core_next(struct gkhi_hook_entry *entry);

/*
 * struct gkhi_hook_info - an entry as others see it; gkhi_core_describe() fills it.
 * @event:    NULL: no descriptor with this layout
 * @slot:     a word of the entry that is the port's own; 0 at first, and in the child of a fork
 * @counters: where the slow path counts hits [0] and lost [1]. The port may store
 *            the address of two words of its own there, once, before the first
 *            event; they take over what was counted so far. NULL: none yet
 * @channels: where its events go, @n_channels of them
 */
#define GKHI_HOOK_CHANNELS	8

struct gkhi_hook_info {
	const char *name;		/* "provider:event" */
	const struct gkhi_event *event;
	uint64_t layout;
	uint64_t hits;			/* slow path */
	uint64_t lost;
	uint32_t *slot;
	uint64_t **counters;
	uint32_t id;			/* 0: never on yet */
	uint32_t n_keys;
	uint32_t n_pads;
	enum gkhi_state state;
	enum gkhi_state effective;
	enum gkhi_why why;
	uint8_t states;			/* GKHI_HAS_* */
	bool gone;			/* no module has it now */
	uint32_t n_channels;
	const struct gkhi_channel *channels[GKHI_HOOK_CHANNELS];
};

void gkhi_core_describe(const struct gkhi_hook_entry *entry, struct gkhi_hook_info *info);

/* The first channel; the others by ->next. */
struct gkhi_channel *gkhi_core_channels(void);

/*
 * In the child of a fork(), control lock held. First, before any other thread
 * exists, with @reopen false: hooks go to no route and what they fire is counted
 * as lost; counters and slots begin anew. Then, the port's directory being the
 * child's own, with @reopen: every channel is opened anew there, and events
 * declared again. 0, or the first -errno.
 */
int gkhi_core_forked(bool reopen);

const char *gkhi_state_name(enum gkhi_state state);
const char *gkhi_why_text(enum gkhi_why why);

#endif
