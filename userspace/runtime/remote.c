// SPDX-License-Identifier: MIT
/*
 * remote.c - what a thread runs that `gkhi` stopped with ptrace and pointed at
 * gkhi_remote_entry (remote_entry.S): one operation, then the system call by
 * which the caller knows that it is done.
 *
 * The thread may have been stopped anywhere in the program: in malloc, in a
 * signal handler, between a call and the look at errno, in our own slow path.
 * So: only the control lock, and only if it is free; no libc state; errno kept.
 *
 * A `gkhi` that is killed meanwhile leaves the thread to us: the operation comes to
 * its end, and the thread puts itself back from what it was told (struct
 * gkhi_remote), as the kernel would have done.
 */
#include <string.h>
#include <sys/user.h>

#include "core.h"
#include "process.h"
#include "strbuf.h"
#include "sys.h"

int gkhi_remote_call(unsigned int op);
#if defined(__x86_64__)
void gkhi_remote_entry(void);		/* not weak: an archive would leave it behind */
extern const char gkhi_remote_entry_end[], gkhi_remote_stack[], gkhi_remote_stack_end[];
void gkhi_remote_alone(void);
struct gkhi_remote gkhi_remote __attribute__((aligned(64), visibility("hidden")));
#define REMOTE_ADDRESS(symbol)	(uintptr_t)(symbol)
#else
#define REMOTE_ADDRESS(symbol)	0
#endif

struct gkhi_runtime_info gkhi_runtime_info __attribute__((used)) = {
	.magic = GKHI_CONTROL_MAGIC,
	.version = GKHI_CONTROL_VERSION,
	.entry = REMOTE_ADDRESS(gkhi_remote_entry),
	.remote = REMOTE_ADDRESS(&gkhi_remote),
	.entry_end = REMOTE_ADDRESS(gkhi_remote_entry_end),
	.stack = REMOTE_ADDRESS(gkhi_remote_stack),
	.stack_end = REMOTE_ADDRESS(gkhi_remote_stack_end),
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

#if defined(__x86_64__)
_Static_assert(sizeof(struct user_regs_struct) == sizeof(gkhi_remote.regs), "remote_entry.S");
_Static_assert(offsetof(struct gkhi_remote, regs) == 16 && offsetof(struct gkhi_remote, xstate) == 256,
	       "remote_entry.S");

/* Of the kernel's own: how a system call says that it was broken off. */
enum {
	BROKEN_SYS = 512,		/* again, unless a handler without SA_RESTART ran */
	BROKEN_NOINTR = 513,		/* again */
	BROKEN_NOHAND = 514,		/* again, unless a handler ran */
	BROKEN_RESTARTBLOCK = 516,	/* the same, by restart_syscall(), which knows what is left */
};

struct kernel_action {
	uintptr_t handler;
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* A handler that runs as soon as the mask is back; what it says of system calls in @flags. */
static bool handler_waits(uint64_t mask, uint64_t *flags)
{
	struct kernel_action action = { 0 };
	uint64_t pending = 0;

	(void)sys_call3(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0);
	pending &= ~mask;
	for (int sig = 1; sig <= 64; sig++) {
		if (!(pending >> (sig - 1) & 1) ||
		    sys_call4(SYS_rt_sigaction, sig, 0, (long)&action, sizeof(action.mask)))
			continue;
		*flags = action.flags;
		if (action.handler > 1)	/* SIG_DFL, SIG_IGN */
			return true;
	}
	return false;
}

/* The thread may have been in a system call, which the kernel would start again now. */
void gkhi_remote_alone(void)
{
	struct user_regs_struct *regs = (struct user_regs_struct *)gkhi_remote.regs;
	long broken = -(long)regs->rax;
	uint64_t flags = 0;
	bool waits;

	if ((long)regs->orig_rax < 0 || broken < BROKEN_SYS || broken > BROKEN_RESTARTBLOCK)
		return;
	waits = handler_waits(gkhi_remote.mask, &flags);
	if (waits && broken != BROKEN_NOINTR && (broken != BROKEN_SYS || !(flags & SA_RESTART))) {
		regs->rax = (unsigned long)-EINTR;
		return;
	}
	regs->rax = broken == BROKEN_RESTARTBLOCK ? SYS_restart_syscall : regs->orig_rax;
	regs->rip -= 2;
}
#endif
