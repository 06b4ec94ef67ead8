// SPDX-License-Identifier: MIT
/*
 * remote.c - what a thread runs that `gkhi` stopped with ptrace and pointed at
 * gkhi_remote_entry (remote_entry.S): one operation, then the system call by
 * which the caller knows that it is done.
 *
 * The thread may have been stopped anywhere in the program: in malloc, in a
 * signal handler, between a call and the look at errno, in our own slow path.
 * So: only the control lock, and only if it is free; no libc state; errno kept.
 */
#include <string.h>

#include "core.h"
#include "process.h"
#include "strbuf.h"

int gkhi_remote_call(unsigned int op);
#if defined(__x86_64__)
void gkhi_remote_entry(void);		/* not weak: an archive would leave it behind */
#else
#define gkhi_remote_entry NULL
#endif

struct gkhi_runtime_info gkhi_runtime_info __attribute__((used)) = {
	.magic = GKHI_CONTROL_MAGIC,
	.version = GKHI_CONTROL_VERSION,
	.entry = (uintptr_t)gkhi_remote_entry,
};

static int open_locked(void)
{
	struct gkhi_runtime_info *info = &gkhi_runtime_info;
	struct strbuf error = sb_into(info->error, sizeof(info->error));
	struct strbuf dir = sb_into(info->dir, sizeof(info->dir));
	const char *why = "";
	int err = port_start(&why);

	if (err) {
		sb_str(&error, why);
		return err;
	}
	sb_str(&dir, gkhi_process.dir);
	return 0;
}

static int run_op(unsigned int op)
{
	struct strbuf error;
	int err;

	if (gkhi_environment.off) {
		error = sb_into(gkhi_runtime_info.error, sizeof(gkhi_runtime_info.error));
		sb_str(&error, "GKHI=off in the environment of this program");
		return -EPERM;
	}
	if (port_read_held() || port_control_trylock())
		return -EAGAIN;
	switch (op) {
	case GKHI_OP_OPEN:
		err = open_locked();
		break;
	case GKHI_OP_RUN:
		err = gkhi_control_take() ? 0 : -ENOENT;
		break;
	default:
		err = -ENOSYS;
	}
	port_control_unlock();
	return err;
}

int gkhi_remote_call(unsigned int op)
{
	int saved = errno;
	int err = run_op(op);

	errno = saved;
	return err;
}
