/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/exit.h - exits: handlers of your own on a hook.
 *
 * An exit is registered, which only makes it known, and armed, which makes it be
 * called while the hook is on; two steps, so that a group is armed at once. Its
 * hook is switched as every other one: exits do not turn a hook on.
 *
 *   call                      context
 *   gkhi_exit_*               T; never from inside an exit (-EDEADLK)
 *   the handler               wherever the hook fires, signal handlers included;
 *                             vector registers and errno are put back behind it
 *
 * Order of calling on one hook: FIRST, then LIFO (newest registration first), then
 * FIFO and the hook's channels (oldest first, channels last of them), then LAST.
 * One FIRST and one LAST per hook. An EXCLUSIVE exit is alone: no other exit can be
 * armed beside it, and the hook's channels get nothing while it is armed.
 *
 * What fires inside a handler goes to channels as always, but to no handler: that
 * is counted as lost (recursion).
 */
#ifndef GKHI_EXIT_H
#define GKHI_EXIT_H

#include <gkhi/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gkhi_exit;
struct gkhi_module;

enum gkhi_exit_order {
	GKHI_EXIT_FIFO = 0,
	GKHI_EXIT_LIFO = 1,
	GKHI_EXIT_FIRST = 2,
	GKHI_EXIT_LAST = 3,
	GKHI_EXIT_EXCLUSIVE = 4,
};

enum gkhi_exit_result {
	GKHI_CONTINUE = 0,
	GKHI_TERMINATE = 1,		/* nothing behind sees the event; counted as suppressed */
};

/*
 * gkhi_exit_fn - a handler.
 * @frame: see struct gkhi_event; valid during the call
 */
typedef enum gkhi_exit_result (*gkhi_exit_fn)(void *context, const struct gkhi_event *event, const uint64_t *frame);

/*
 * struct gkhi_exit_spec - what to register.
 * @hook:    "provider:event"
 * @layout:  layout hash that the handler was written for; 0: the only one there is
 * @order:   enum gkhi_exit_order
 * @group:   armed and disarmed together; 0: alone
 * @owner:   the object that @handler is in: when it goes, its exits go; NULL: stays
 */
struct gkhi_exit_spec {
	const char *hook;
	uint64_t layout;
	gkhi_exit_fn handler;
	void *context;
	uint32_t order;
	uint32_t group;
	const struct gkhi_module *owner;
};

#ifndef __KERNEL__
#pragma GCC visibility push(default)
#endif

/*
 * Return: 0; -ENOENT no such hook, -EINVAL a bad order or several layouts and none
 * named, -ENOMEM, -EDEADLK.
 */
int gkhi_exit_register(const struct gkhi_exit_spec *spec, struct gkhi_exit **exit);

/* 0; -EBUSY the place (FIRST, LAST, EXCLUSIVE) is taken; then none of the group is armed. */
int gkhi_exit_arm(struct gkhi_exit *exit);
int gkhi_exit_arm_group(uint32_t group);

/* When these return, the handler runs nowhere. -ETIMEDOUT: a thread never came out of it. */
int gkhi_exit_disarm(struct gkhi_exit *exit);
int gkhi_exit_disarm_group(uint32_t group);

/* Disarm and forget; @exit is gone then. */
int gkhi_exit_unregister(struct gkhi_exit *exit);

#ifndef __KERNEL__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
