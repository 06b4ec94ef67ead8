// SPDX-License-Identifier: MIT
/*
 * fork.c - the child of a fork: hooks keep their states; directory, channels and
 * metadata must be its own.
 *
 *   call      context                                    may run against
 *   prepare   T                                          other threads: takes the control lock
 *   parent    T, lock held since prepare                 other threads
 *   child     the only thread, lock held since prepare   nothing
 *   adopt     any: a slow path, before its read section  other threads
 *   opened    control lock held                          slow paths
 *
 * They are made at the first need (an event, a request), not in the handler: most
 * children exec at once, and exec runs no destructor, so that each would leave
 * files behind. A child made by clone() past libc, or by _Fork(), has no handlers
 * run: it goes on writing to its parent's rings, which is safe (a ring excludes
 * whoever runs on the same processor, of whatever process), but is counted as its
 * parent's.
 */
#include <pthread.h>

#include "core.h"
#include "process.h"
#include "strbuf.h"
#include "sys.h"

bool port_orphan;

static bool locked;			/* by prepare; control lock held */
static bool pending;			/* a child that has no channels of its own yet */

static void before_fork(void)
{
	if (!gkhi_process.control && !pending)
		return;
	if (port_control_held())
		return;			/* a hook's exit or a batch forks: the child's hooks go nowhere */
	port_control_lock();
	locked = true;
}

static void after_fork_parent(void)
{
	if (!locked)
		return;
	locked = false;
	port_control_unlock();
}

static void after_fork_child(void)
{
	if (!locked)
		return;
	port_control_forked();
	locked = false;
	gkhi_process_forget();
	gkhi_core_forked(false);
	pending = true;
	PORT_WRITE_ONCE(port_orphan, true);
	port_control_unlock();
}

void gkhi_fork_opened(void)
{
	if (!pending)
		return;
	pending = false;
	PORT_WRITE_ONCE(port_orphan, false);
	gkhi_core_forked(true);
}

static void complain(void)
{
	char line[sizeof(gkhi_process.why) + 64];
	struct strbuf t = sb_into(line, sizeof(line));

	sb_str(&t, "a forked child's hooks stay off: ");
	sb_str(&t, gkhi_process.why);
	port_log(line);
}

/* Once for events: where it fails they are lost and counted; a request tries again. */
static void adopt(void *a, void *b)
{
	uint64_t signals;

	(void)a;
	(void)b;
	sys_block_signals(&signals);
	if (!port_control_trylock()) {
		PORT_WRITE_ONCE(port_orphan, false);
		if (gkhi_process_open())
			complain();
		port_control_unlock();
	}
	sys_restore_signals(&signals);
}

void port_adopt(void)
{
	if (!port_read_held())
		port_call_saving_vectors(adopt, NULL, NULL);
}

void gkhi_fork_init(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
