// SPDX-License-Identifier: MIT
/*
 * agent.c - GKHI_AGENT=thread: a thread that takes requests, so that switching
 * needs no ptrace and no help of the program.
 *
 * Only on request: a second thread makes unshare(CLONE_NEWUSER) fail, and a
 * program may count its threads. It blocks every signal, so no handler of the
 * program runs in it; it waits in futex() and wakes for nothing else. A pthread,
 * for setuid() of a process must reach all of its threads.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>

#include "port_posix.h"
#include "process.h"
#include "sys.h"

#define GKHI_AGENT_STACK	(128u << 10)

static void *agent(void *arg)
{
	struct gkhi_control *c = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	PORT_STORE_RELEASE(c->agent_tid, (uint32_t)port_tid());
	while (!PORT_READ_ONCE(c->ended)) {
		uint32_t request = PORT_LOAD_ACQUIRE(c->request);

		if (request == PORT_READ_ONCE(c->done)) {
			sys_futex(&c->request, FUTEX_WAIT, request, NULL);
			continue;
		}
		port_control_lock();
		gkhi_control_take();
		port_control_unlock();
	}
	return NULL;
}

/* Signals are blocked by the caller: the thread inherits that. */
int gkhi_agent_start(void)
{
	struct gkhi_control *c = gkhi_process.control;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, GKHI_AGENT_STACK);
	c->agent = GKHI_AGENT_THREAD;
	err = pthread_create(&thread, &attr, agent, c);
	pthread_attr_destroy(&attr);
	if (err) {
		c->agent = GKHI_AGENT_NONE;
		return -err;
	}
	pthread_setname_np(thread, "gkhi");
	return 0;
}
