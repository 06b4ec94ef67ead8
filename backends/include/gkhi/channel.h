/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/channel.h - the seam between hooks and transports: routes, channels and
 * the backend v-table.
 */
#ifndef GKHI_CHANNEL_H
#define GKHI_CHANNEL_H

#include <gkhi/abi.h>
#include <gkhi/packet.h>
#include <gkhi/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gkhi_channel;

/*
 * struct gkhi_route - what a hook's route points at; loaded once per event.
 *
 * The fast stubs of the ring read the first part inside their restartable
 * sequence: a stub of class c goes on only while cpu < n_cpus[c]; so a route of
 * another class, another backend, several exits, or none is simply one whose
 * n_cpus[] are 0, and the stub's slow path reads the route again in C.
 *
 * @n_cpus:   per stream class: cpus for which cpu[] may be used
 * @exits:    NULL: exactly one channel and nothing else; otherwise the list
 * @channel:  that one channel
 * @cpu:      n_cpus + 1 pointers to struct gkhi_ring_cpu
 */
struct gkhi_route {
	uint32_t n_cpus[4];
	const struct gkhi_exit_list *exits;
	struct gkhi_channel *channel;
	void *priv[4];
	struct gkhi_ring_cpu *cpu[];
};

#define GKHI_ROUTE_CPU	64

/* Where in a record an event's parts lie; what a backend needs of an event. */
struct gkhi_payload {
	const struct gkhi_event *event;
	uint32_t id;
	const uint64_t *frame;		/* as the site hands it over */
};

struct gkhi_channel_config {
	char name[32];
	char backend[16];		/* "ring", "relay", "printk" */
	uint32_t mode;			/* the backend's own */
	uint32_t stream_class;		/* enum gkhi_stream_class */
	uint32_t subbuf_size;
	uint32_t n_subbufs;
	char target[160];		/* printk: "stderr", "syslog" or a file */
	uint32_t rate;			/* printk: messages per second, 0 = all */
};

struct gkhi_channel_stats {
	uint64_t events;
	uint64_t lost[GKHI_N_LOST_REASONS];
};

/* gkhi_backend.flags */
#define GKHI_BACKEND_FOREIGN	0x01	/* write() is not re-entrant, or uses vector registers or
					 * libc: called behind the recursion guard, registers saved */
#define GKHI_BACKEND_TEXT	0x02	/* words for people: events need no metadata */
#define GKHI_BACKEND_UNCOUNTED	0x04	/* write() counts nothing per hook: the caller does (the kernel's) */

/*
 * struct gkhi_backend - a kind of transport. One folder, one of these, one line
 * in backends/backends.c.
 *
 * @open:     make what the channel needs; -errno and nothing left behind. Fills
 *            ch->route when a stub can write by itself; else the core makes one
 * @close:    after the grace period: nobody writes any more
 * @write:    one whole event; any context; 0, or -errno with the loss counted.
 *            Backends whose stub writes by itself still have it: it is the slow
 *            path, and the one for several exits.
 * @reserve, @commit: for clients without events (a channel without YAML):
 *            room for @words payload words of event @id, then publish. At most
 *            one reservation per context may be open.
 * @finalize: close open packets so that everything written can be read
 * @reset:    forget the content
 * @stats:    counters so far
 */
struct gkhi_backend {
	const char *name;
	uint32_t flags;			/* GKHI_BACKEND_* */
	int (*open)(struct gkhi_channel *ch);
	void (*close)(struct gkhi_channel *ch);
	int (*write)(struct gkhi_channel *ch, const struct gkhi_payload *p);
	void *(*reserve)(struct gkhi_channel *ch, uint32_t id, uint32_t words);
	void (*commit)(struct gkhi_channel *ch, void *reservation);
	void (*finalize)(struct gkhi_channel *ch);
	void (*reset)(struct gkhi_channel *ch);
	void (*stats)(struct gkhi_channel *ch, struct gkhi_channel_stats *st);
};

/*
 * struct gkhi_channel - a configured instance of a backend.
 * @route: the route of a hook that goes to this channel alone
 */
struct gkhi_channel {
	struct gkhi_channel_config config;
	const struct gkhi_backend *backend;
	struct gkhi_route *route;
	struct gkhi_channel *next;
	uint32_t users;			/* hooks routed here */
	uint32_t flags;
	void *priv[4];			/* the backend's */
};

const struct gkhi_backend *gkhi_backend_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
