// SPDX-License-Identifier: MIT
/*
 * start.c - the environment: does it ask for tracing, and how.
 *
 *   GKHI=<batch>         run it; patterns without a match wait for later objects
 *   GKHI=off             nothing, whoever asks
 *   GKHI_DIR=<folder>    where the directories of processes are
 *   GKHI_KEEP=1          keep this process's directory though it holds nothing
 *   GKHI_AGENT=thread    a thread takes requests; none (default): ptrace does
 *
 * Without GKHI nothing happens here: no system call, no file, no thread. With it,
 * whatever goes wrong costs one line on stderr, and hooks stay off. Programs that
 * run with more rights than their caller's (set-user-ID, AT_SECURE) see none of
 * these variables.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "module.h"
#include "process.h"
#include "strbuf.h"
#include "sys.h"

static void copy_value(char *to, size_t size, const char *name)
{
	const char *value = secure_getenv(name);
	size_t n = value ? strlen(value) : 0;

	if (n >= size)
		n = size - 1;		/* directory.c says that it is too long */
	memcpy(to, value ? value : "", n);
	to[n] = 0;
}

static void read_environment(void)
{
	struct gkhi_environment *env = &gkhi_environment;
	const char *batch = secure_getenv("GKHI");
	const char *agent = secure_getenv("GKHI_AGENT");
	const char *keep = secure_getenv("GKHI_KEEP");

	copy_value(env->dir, sizeof(env->dir), "GKHI_DIR");
	copy_value(env->runtime_dir, sizeof(env->runtime_dir), "XDG_RUNTIME_DIR");
	env->off = batch && !strcmp(batch, "off");
	env->batch = env->off ? NULL : batch;
	env->keep = keep && *keep && strcmp(keep, "0");
	env->agent = agent && !strcmp(agent, "thread");
	if (agent && *agent && !env->agent && strcmp(agent, "none"))
		env->bad_agent = agent;
}

static void complain(const char *where, const char *what)
{
	char line[400];
	struct strbuf t = sb_into(line, sizeof(line));

	sb_str(&t, where);
	sb_str(&t, what);
	port_log(line);
}

/* Of an error of several lines (what, the batch, a caret, a hint) the first and the hint. */
static void complain_of_batch(const char *error)
{
	char line[400];
	struct strbuf t = sb_into(line, sizeof(line));
	const char *end = strchr(error, '\n');
	const char *hint = end;

	for (int i = 0; i < 2 && hint; i++)
		hint = strchr(hint + 1, '\n');
	sb_bytes(&t, error, end ? (size_t)(end - error) : strlen(error));
	if (hint && hint[1]) {
		sb_str(&t, ": ");
		sb_str(&t, hint + 1);
	}
	complain("GKHI: ", line);
}

/* Control lock held, signals blocked. */
static int start_tracing(void)
{
	const char *why = "";
	char error[1024];
	int err = port_start(&why);

	if (err) {
		complain("hooks stay off: ", why);
		return err;
	}
	error[0] = 0;
	err = gkhi_batch_run(gkhi_environment.batch, strlen(gkhi_environment.batch), GKHI_BATCH_LATER, error,
			     sizeof(error));
	if (err)
		complain_of_batch(error);
	return err;
}

static void start_agent(void)
{
	char line[200];
	struct strbuf t = sb_into(line, sizeof(line));

	if (gkhi_environment.bad_agent) {
		sb_str(&t, "GKHI_AGENT: found '");
		sb_str(&t, gkhi_environment.bad_agent);
		sb_str(&t, "', wanted 'thread' or 'none'");
		port_log(line);
	}
	if (gkhi_environment.agent && gkhi_agent_start())
		port_log("GKHI_AGENT: no thread could be made: requests come by ptrace");
}

/* Called by the first gkhi_module_add() too: of two constructors either may run first. */
void gkhi_start(void)
{
	static bool started;
	uint64_t signals;

	if (started)
		return;
	started = true;
	read_environment();
	gkhi_fork_init();
	gkhi_vfork_bind();
	PORT_STORE_RELEASE(gkhi_runtime_info.ready, 1);
	if (!gkhi_environment.batch)
		return;
	gkhi_log_init();
	sys_block_signals(&signals);
	port_control_lock();
	start_tracing();
	port_control_unlock();
	if (gkhi_process.control)
		start_agent();
	sys_restore_signals(&signals);
}

__attribute__((constructor(101))) static void on_load(void)
{
	gkhi_start();
}

/*
 * The lock is tried: exit() may have been called by a handler that interrupted its
 * holder. Priority 101: after the destructors of the program, which may be traced.
 */
__attribute__((destructor(101))) static void on_exit_(void)
{
	struct timespec nap = { 0, 1000000 };
	uint64_t signals;

	if (!gkhi_process.control)
		return;
	sys_block_signals(&signals);
	for (int i = 0; i < 200; i++) {
		if (!port_control_trylock()) {
			gkhi_process_close();
			port_control_unlock();
			break;
		}
		(void)sys_call3(SYS_nanosleep, (long)&nap, 0, 0);
	}
	sys_restore_signals(&signals);
}

void gkhi_process_module_added(void)
{
	gkhi_start();
}
