/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * port_linux.h - the Linux port behind hooks/port.h: what the core and the
 * backends ask of the kernel.
 *
 *   call                                   context
 *   port_alloc, _free, port_patch, ...     task, control lock held, may sleep
 *   port_read_*, port_guard_*, port_clock  any up to NMI, preemption off
 *
 * The core's keys are static keys, its detours are kprobes (marker.c): armed by a
 * worker, so that a pad answers -EINPROGRESS at first, and the hook is switched
 * once more when the worker is done.
 */
#ifndef GKHI_PORT_LINUX_H
#define GKHI_PORT_LINUX_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#include <gkhi/abi.h>

#ifndef UINT32_MAX
#define UINT32_MAX	U32_MAX
#endif
#ifndef UINT64_MAX
#define UINT64_MAX	U64_MAX
#endif

#define PORT_READ_ONCE(x)		READ_ONCE(x)
#define PORT_WRITE_ONCE(x, v)		WRITE_ONCE(x, v)
/* What pairs with what is said where they are used, in hooks/. */
#define PORT_LOAD_ACQUIRE(x)		smp_load_acquire(&(x))
#define PORT_STORE_RELEASE(x, v)	smp_store_release(&(x), v)
#define PORT_ADD(x, v)			((void)__atomic_fetch_add(&(x), (v), __ATOMIC_RELAXED))

struct gkhi_record;
struct gkhi_hook_entry;
struct gkhi_route;
struct gkhi_module;

/* -- memory: zeroed; NULL: none */
void *port_alloc(size_t size);
void port_free(void *p, size_t size);

/* -- control lock: a mutex */
void port_control_lock(void);
void port_control_unlock(void);
bool port_control_held(void);

/*
 * -- slow-path readers: preemption is off already in every stub, which is what
 * synchronize_rcu() waits for.
 */
static inline unsigned int port_read_lock(void)
{
	return 0;
}

static inline void port_read_unlock(unsigned int index)
{
}

static inline bool port_read_held(void)
{
	return false;
}

int port_synchronize(void);
int port_restart_sequences(void);

/* -- recursion guard: once per context (task, softirq, hardirq, NMI) of a cpu */
bool port_guard_enter(void);
void port_guard_leave(void);

static inline void port_call_saving_vectors(void (*fn)(void *a, void *b), void *a, void *b)
{
	fn(a, b);
}

/* -- time */
uint64_t port_clock(void);
uint32_t port_clock_kind(void);

/*
 * -- code: @addr is a static key with @target the same, or a pad with its probe as
 * @target. @status out: 0 or -errno; -EINPROGRESS: a pad's probe is not armed yet
 */
struct port_patch {
	void *addr;
	const void *target;
	const void *ours;
	int status;
};

int port_patch(struct port_patch *patches, size_t n);

static inline void port_sync_core(void)
{
}

/* -- a pad's probe (marker.c) */
int port_detour(const struct gkhi_record *record, struct gkhi_hook *hook, const struct gkhi_event *event,
		const void **entry, enum gkhi_why *why);

/* What a probe does with the frame it has built. */
#define port_deliver(hook, frame)						\
	((void (*)(struct gkhi_hook *, const u64 *))READ_ONCE((hook)->stub))(hook, frame)

/* -- stubs (stub.c) */
void gkhi_stub_none(struct gkhi_hook *hook, const u64 *frame);
void gkhi_stub_generic(struct gkhi_hook *hook, const u64 *frame);
const void *port_stub(const struct gkhi_event *event, const struct gkhi_route *route);

/* -- the producer */
int port_start(const char **why);
int port_event_declare(const struct gkhi_event *event, uint32_t id, uint32_t stream_class);
void port_hook_changed(struct gkhi_hook_entry *entry);
void port_channels_changed(void);
void port_log(const char *line);

static inline void port_hook_switched(uint32_t slot, uint8_t state, uint8_t effective, uint8_t why)
{
	/* no entry of the kernel has a slot: port_hook_changed() is called */
}

/* Operands of markers that could not be read: /sys/kernel/gkhi/faults. */
extern atomic64_t port_faults;

static inline void port_hook_faulted(uint32_t slot, uint64_t n)
{
	atomic64_add(n, &port_faults);
}

/* -- for selectors */
const char *port_module_name(const struct gkhi_module *module);
const char *port_site_function(const struct gkhi_record *record, const void *code);

static inline void port_site_functions_done(void)
{
}

/*
 * -- of gkhi_printk.ko alone (backend_printk.c): the kernel's log. A line, and what
 * printk() puts before it, fit one of its records.
 */
#define PORT_LINE_MAX	960

struct port_sink;
int port_sink_open(const char *target, struct port_sink **sink);
void port_sink_close(struct port_sink *sink);
int port_sink_write(struct port_sink *sink, unsigned int level, const char *text, size_t n);
u64 port_nanoseconds(void);

/* -- there is no fork here */
static const bool port_orphan __maybe_unused;

static inline void port_adopt(void)
{
}

#endif
