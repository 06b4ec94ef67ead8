/* SPDX-License-Identifier: MIT */
/*
 * gkhi/control.h - how a traced process and `gkhi` meet: the files of a process
 * and the note by which the runtime is found. docs/format-control.md is its page.
 *
 * Directory of a process, mode 0700, made when tracing is first asked for (never
 * before; a hooked program that nobody traces makes no file and no system call):
 *
 *   $GKHI_DIR, else $XDG_RUNTIME_DIR/gkhi, else /dev/shm/gkhi-<uid>
 *     <pid>-<starttime>/            starttime: field 22 of /proc/<pid>/stat; the
 *                                   program after an exec: <pid>-<starttime>.1, ...
 *        control                    struct gkhi_control, then the hook table
 *        metadata                   CTF 1.8 event blocks, as they were declared;
 *                                   there before the first event that needs them
 *        <channel>.ring             gkhi/ring.h
 *        request                    a batch too long for the control file
 *
 * All of it stays readable when the process has died. A process that ends
 * normally removes it, unless GKHI_KEEP is set or a channel holds events.
 */
#ifndef GKHI_CONTROL_H
#define GKHI_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GKHI_CONTROL_MAGIC	0x4c5254434b4700ull	/* "\0GKCTRL" */
#define GKHI_CONTROL_VERSION	2

enum gkhi_clock_kind {
	GKHI_CLOCK_TSC = 1,		/* invariant, and the kernel's clocksource */
	GKHI_CLOCK_MONOTONIC = 2,	/* nanoseconds */
};

/* How a process takes requests. */
enum gkhi_agent_kind {
	GKHI_AGENT_NONE = 0,		/* only when stopped by ptrace */
	GKHI_AGENT_THREAD = 1,		/* GKHI_AGENT=thread */
	GKHI_AGENT_POLL = 2,		/* the program calls gkhi_poll() */
};

struct gkhi_control_hook {
	char name[96];			/* "provider:event" */
	uint64_t layout;
	uint64_t hits;			/* slow-path count; the rings have theirs */
	uint64_t lost;
	uint32_t id;			/* 0: never on yet */
	uint32_t n_keys;		/* jumps */
	uint32_t n_pads;		/* marker pads */
	uint8_t state;			/* enum gkhi_state: asked for */
	uint8_t effective;		/* enum gkhi_state: really */
	uint8_t why;			/* enum gkhi_why */
	uint8_t states;			/* GKHI_HAS_*: compiled in */
	char channels[80];		/* comma-separated names */
	uint8_t stability;
	uint8_t gone;			/* its module was unloaded */
	uint8_t reserved[6];
	uint64_t faults;		/* a marker's operands that could not be read; counted live */
	uint8_t reserved2[24];
};					/* 256 bytes */

struct gkhi_control_channel {
	char name[32];
	char backend[16];
	uint32_t mode;
	uint32_t stream_class;
	uint32_t subbuf_size;
	uint32_t n_subbufs;
	uint32_t users;
	uint32_t open;
	uint64_t events;		/* backends without a file of their own */
	uint64_t lost[8];		/* enum gkhi_lost_reason */
	char target[160];
};

#define GKHI_CONTROL_CHANNELS	32

/*
 * struct gkhi_control - the head of the control file.
 *
 * Requests: `gkhi` takes an exclusive flock() on the file, writes the batch to
 * @batch (or, when it does not fit, to the file "request"), its bytes to
 * @batch_size, increments @request, and wakes the process: by futex on @request
 * (agent thread), by waiting for its next gkhi_poll(), or by a remote call. The
 * process stores @status and @reply, then @done = @request (futex wake).
 */
struct gkhi_control {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;
	uint8_t uuid[16];
	uint32_t pid;
	uint32_t agent;			/* enum gkhi_agent_kind */
	uint64_t starttime;
	char boot_id[40];
	char comm[32];
	uint32_t clock;			/* enum gkhi_clock_kind */
	uint32_t ended;			/* 1: the process went through exit() */
	uint64_t clock_ticks;		/* one moment, in ticks, ... */
	uint64_t clock_monotonic;	/* ... in ns of CLOCK_MONOTONIC, ... */
	uint64_t clock_realtime;	/* ... and of CLOCK_REALTIME */
	uint32_t request;
	uint32_t done;
	int32_t status;			/* 0 or -errno */
	uint32_t generation;		/* of the metadata: blocks declared */
	uint64_t metadata_size;		/* bytes of the metadata file that count; behind
					 * them is room, zeros, cut off at exit */
	uint32_t batch_size;		/* bytes, without a NUL; > sizeof(batch): see "request" */
	uint32_t agent_tid;		/* 0: no agent thread now */
	char batch[4096];
	char reply[3072];		/* NUL-terminated: error, or what was done */
	uint32_t n_channels;
	uint32_t n_hooks;		/* entries of the table, grows only */
	uint32_t hooks_capacity;	/* entries the file has room for: map again */
	uint32_t hooks_offset;
	struct gkhi_control_channel channels[GKHI_CONTROL_CHANNELS];
};

/*
 * The note. PT_NOTE, owner "gkhi", type GKHI_NOTE_RUNTIME, descriptor one s64:
 * the distance from that field to struct gkhi_runtime_info.
 */
#define GKHI_NOTE_OWNER		"gkhi"
#define GKHI_NOTE_RUNTIME	1

enum gkhi_remote_op {
	GKHI_OP_OPEN = 1,		/* make the directory; answer @dir, or why not in @error */
	GKHI_OP_RUN = 2,		/* take the request in the control file */
};

/*
 * struct gkhi_runtime_info - for `gkhi`, which stops one thread with ptrace,
 * points it at @entry with the operation in rdi (the entry switches to a stack of
 * its own) and lets it go until the thread makes the system call that ends the
 * call:
 *
 *    getpid() with rdi = GKHI_REMOTE_DONE, rsi = result (0 or -errno)
 *
 * caught at its entry, after which the saved registers are put back. The entry
 * preserves nothing but errno; it never blocks on what the thread itself may
 * hold, never allocates from the heap, and answers -EAGAIN when the control lock
 * is taken or the thread is inside a slow path.
 *
 * Nobody may catch it: `gkhi` can be killed at any moment. So before it changes a
 * thread it leaves in @remote what is needed to put it back, and a thread that
 * comes out of the system call puts itself back from there.
 */
struct gkhi_runtime_info {
	uint64_t magic;			/* GKHI_CONTROL_MAGIC */
	uint32_t version;
	uint32_t ready;			/* 1: constructors have run, @entry may be called */
	uint64_t entry;			/* address */
	char dir[256];			/* the process's directory, or "" */
	char error[256];		/* why the last GKHI_OP_OPEN failed */
	uint64_t remote;		/* address of struct gkhi_remote; 0: this machine has none */
	uint64_t entry_end;		/* a thread in [entry, entry_end), or whose stack pointer */
	uint64_t stack;			/* is in (stack, stack_end], is inside a call */
	uint64_t stack_end;
};

#define GKHI_REMOTE_REGS	27		/* struct user_regs_struct */
#define GKHI_REMOTE_XSTATE	4096		/* all that a call may change is in it */

/*
 * struct gkhi_remote - the thread that makes a remote call, as it was. Written by
 * the one `gkhi` that holds flock() on /proc/<pid>/mem, and cleared by it when the
 * thread is put back: so a @tid left over is of a `gkhi` that was killed, and the
 * next one finds out where that thread is before it writes.
 */
struct gkhi_remote {
	uint32_t tid;			/* 0: no call */
	uint32_t taken;			/* by the thread: the stack is in use */
	uint64_t mask;			/* blocked signals */
	uint64_t regs[GKHI_REMOTE_REGS];	/* out of a restartable sequence */
	uint64_t xstate_size;
	uint64_t reserved[2];
	uint8_t xstate[GKHI_REMOTE_XSTATE];	/* NT_X86_XSTATE; at a multiple of 64 */
};

#define GKHI_REMOTE_DONE	0x676b6869646f6e65ull	/* "gkhidone" */

#ifdef __cplusplus
}
#endif
#endif
