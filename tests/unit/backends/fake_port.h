/* SPDX-License-Identifier: MIT */
/*
 * fake_port.h - the part of the port that the backends' tests put in place of the
 * process: memory, files and the clock. Sequences and stubs are the real ones.
 */
#ifndef GKHI_TEST_FAKE_PORT_H
#define GKHI_TEST_FAKE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gkhi/channel.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fake_port {
	uint32_t n_cpus;
	uint32_t clock_kind;		/* 1: the TSC, 2: @clock */
	uint64_t clock;			/* what port_clock() says ... */
	uint64_t clock_step;		/* ... and by how much it goes on each time */
	uint32_t pid;
	uint8_t uuid[16];
	bool shm_fails;
	bool alloc_fails;
	void *shm;			/* of the last port_shm_create() */
	size_t shm_size;
	char shm_name[64];
	unsigned int n_shm;		/* created and not removed */
	unsigned int n_alloc;		/* allocated and not freed */
};

extern struct fake_port fake_port;

/* What the last gkhi_dispatch() of this thread ended with. */
extern __thread int fake_dispatch_error;

/* Read sections round gkhi_dispatch(), if a test wants them. */
extern unsigned int (*fake_read_lock)(void);
extern void (*fake_read_unlock)(unsigned int index);

/* What gkhi_dispatch() does with an event: @event to @channel. */
struct fake_hook {
	const struct gkhi_event *event;
	struct gkhi_channel *channel;
};

/* Calls hook->stub as a site does, with the frame on the stack. Returns false if a register was changed. */
bool fake_site_call(struct gkhi_hook *hook, const uint64_t *frame, size_t words);

#ifdef __cplusplus
}
#endif
#endif
