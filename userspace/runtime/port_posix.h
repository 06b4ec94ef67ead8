/* SPDX-License-Identifier: MIT */
/*
 * port_posix.h - the POSIX port behind hooks/port.h: what the core and the
 * backends ask of a user-space process.
 *
 * Nothing here uses malloc, stdio, or a lock that a stub could meet: a request
 * may run in a thread that ptrace stopped in the middle of malloc.
 */
#ifndef GKHI_PORT_POSIX_H
#define GKHI_PORT_POSIX_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <gkhi/abi.h>

#define PORT_READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define PORT_WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define PORT_LOAD_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define PORT_STORE_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#define PORT_ADD(x, v) __atomic_fetch_add(&(x), (v), __ATOMIC_RELAXED)

struct gkhi_record;
struct gkhi_hook_entry;

/* -- memory (port_memory.c): pages from mmap, a size-class free list on top; caller holds the control lock. */
void *port_alloc(size_t size);		/* zeroed, 16-aligned (multiples of 64: 64-aligned); NULL: none */
void port_free(void *p, size_t size);

/* -- control lock (port_lock.c): futex, remembers the owner; no system call while nobody else wants it. */
void port_control_lock(void);
int port_control_trylock(void);		/* 0, or -EAGAIN */
void port_control_unlock(void);
bool port_control_held(void);		/* by this thread */
void port_control_forked(void);		/* in the child of a fork() that was called with the lock held: held still,
					 * by this thread; read sections of threads that are no more are forgotten */

/* -- slow-path readers (port_lock.c): any context, signal handlers included. */
unsigned int port_read_lock(void);	/* returns the index to give back */
void port_read_unlock(unsigned int index);
int port_synchronize(void);		/* all readers that were inside have left; also restarts every restartable
					 * sequence (membarrier PRIVATE_EXPEDITED_RSEQ). -ETIMEDOUT: a reader never
					 * left (its handler did longjmp): then nothing it may hold is ever freed */
int port_restart_sequences(void);	/* the second half alone; 0 or -errno */
int port_prepare(const char **why);	/* before the first switch: 0, or -errno and why hooks must stay off */

/*
 * -- recursion guard (port_read.c): around what must not be entered twice by one
 * thread. False: this thread is inside already, nothing to leave.
 */
bool port_guard_enter(void);
void port_guard_leave(void);

/*
 * -- (stubs.S) call fn(a, b) from the event side where fn may use vector
 * registers, libc and errno: all of them are put back afterwards.
 */
void port_call_saving_vectors(void (*fn)(void *a, void *b), void *a, void *b);

/* -- processors and time (port_clock.c) */
unsigned int port_n_cpus(void);		/* possible cpus */
uint64_t port_clock(void);		/* ticks of the process's clock */
uint32_t port_clock_kind(void);		/* enum gkhi_clock_kind */
static inline bool port_clock_is_tsc(void)
{
	return port_clock_kind() == 1;	/* GKHI_CLOCK_TSC */
}
int port_tid(void);

/*
 * -- code (text.c): switch nop5s. The core hands them over in order of @addr.
 * @addr:   the five bytes, inside one aligned 8-byte word
 * @target: NULL: nop5, else where the jump goes
 * @ours:   the jump that we may have put there before; NULL: only a nop5 may stand there
 * @status: out: 0 or -errno: -EBUSY somebody else's bytes, -EACCES write-
 *          protected, -ERANGE target too far
 */
struct port_patch {
	void *addr;
	const void *target;
	const void *ours;
	int status;
};
int port_patch(struct port_patch *patches, size_t n);	/* all of a batch, one round; number that failed */
void port_sync_core(void);		/* membarrier PRIVATE_EXPEDITED_SYNC_CORE */

/*
 * -- marker detours (detour.c): code for the pad of @record that records as
 * @hook's event; made once per pad, never freed. 0, or -errno and *why.
 */
int port_detour(const struct gkhi_record *record, struct gkhi_hook *hook, const struct gkhi_event *event,
		const void **entry, enum gkhi_why *why);
#define port_deliver(hook, frame) gkhi_dispatch(hook, frame)	/* what a detour does with its frame */

/*
 * -- restartable sequences (sequence.S, sequence.c): copy, then publish with one
 * store, on one cpu and without anyone else getting in between.
 *
 * port_sequence_cpu() is the cpu this thread is on, or PORT_NO_CPU when it has no
 * sequences (no kernel or libc support, valgrind, a vfork child): such a thread
 * must not call port_sequence_run().
 */
#define PORT_NO_CPU	0xffffffffu

enum port_copy_kind {
	PORT_COPY_BYTES = 0,		/* padded with zeros to 8; from NULL: zeros */
	PORT_COPY_STRING = 1,		/* none of @bytes is 0; NUL and padding follow */
};

struct port_copy {
	void *to;			/* 8-aligned */
	const void *from;
	uint32_t bytes;
	uint32_t kind;			/* enum port_copy_kind */
};

/*
 * @commit:   the word that publishes; must be @expected, becomes @next
 * @stamp:    another word that must be unchanged: what @expected alone cannot tell apart
 * @cpu:      where @commit belongs
 */
struct port_sequence {
	uint64_t *commit;
	uint64_t expected;
	uint64_t next;
	const uint64_t *stamp;
	uint64_t stamped;
	const struct port_copy *copies;
	uint32_t n_copies;
	uint32_t cpu;
};

uint32_t port_sequence_cpu(void);
uint32_t port_sequence_tid(void);
int port_sequence_run(const struct port_sequence *s);	/* 0, -EAGAIN: not done, -EFAULT: a string became shorter */

/* What port_sequence_run() copies, without a sequence (the caller has a lock). 0 or -EFAULT. */
int port_copy_run(const struct port_copy *copies, uint32_t n);

/* Between reading a commit word and the clock: the clock must not be the older one. */
static inline void port_load_fence(void)
{
#if defined(__x86_64__)
	__asm__ __volatile__("lfence" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* -- wake the consumers that sleep on @word (sequence.c); any context, errno untouched. */
void port_wake_all(uint32_t *word);
bool port_thread_exists(uint32_t tid);			/* of this or any process; any context */

/*
 * -- where lines of text go (sink.c): target is "stderr", "syslog", "syslog:SOCKET"
 * or a file. Writing is for any context and leaves signals and errno alone: 0 or
 * -errno. Time for rate limits: CLOCK_MONOTONIC in ns.
 */
#define PORT_LINE_MAX	1024
struct port_sink;
int port_sink_open(const char *target, struct port_sink **sink);
void port_sink_close(struct port_sink *sink);
int port_sink_write(struct port_sink *sink, unsigned int level, const char *text, size_t n);
uint64_t port_nanoseconds(void);

/* -- stubs (stubs.S, stubs.c): rcx = hook on entry, see abi.h */
struct gkhi_route;
extern const char gkhi_stub_none[];	/* does nothing */
extern const char gkhi_stub_generic[];	/* gkhi_dispatch(hook, frame) */
const void *port_stub(const struct gkhi_event *event, const struct gkhi_route *route);	/* the fastest one that fits */

/* -- what the core calls back (process.c): the process's files */
int port_shm_create(const char *name, size_t size, void **addr);	/* in the process's directory; space is allocated */
void port_shm_remove(const char *name, void *addr, size_t size);
const uint8_t *port_uuid(void);
uint32_t port_pid(void);
int port_event_declare(const struct gkhi_event *event, uint32_t id, uint32_t stream_class);	/* on disk when it returns 0 */
void port_hook_changed(struct gkhi_hook_entry *entry);			/* refresh the control file */
void port_hook_switched(uint32_t slot, uint8_t state, uint8_t effective, uint8_t why);	/* the same, cheap: nothing else has changed */
void port_hook_faulted(uint32_t slot, uint64_t n);			/* operands that could not be read; any context (fault.c) */
void port_channels_changed(void);					/* after a batch or a late object made, changed or closed channels */
void port_log(const char *line);					/* one line to stderr, once per text */

/*
 * -- the producer as a whole (module.c, process.c), control lock held: its files
 * exist and its objects are registered. 0, or -errno with the reason in *why.
 */
int port_start(const char **why);

/* -- for selectors (module.c): the path of the object, "" if unknown; the function that a pad stands in. */
struct gkhi_module;
const char *port_module_name(const struct gkhi_module *module);
const char *port_site_function(const struct gkhi_record *record, const void *code);	/* good until the next call */
void port_site_functions_done(void);	/* what was opened for it may be closed */

/*
 * -- a forked child makes its channels at its first event (fork.c): while port_orphan
 * is set, a slow path calls port_adopt() before it begins; any context.
 */
extern bool port_orphan;
void port_adopt(void);

/* -- is this thread inside a slow-path read section? Then a remote call answers -EAGAIN (port_read.c). */
bool port_read_held(void);

#endif
