/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * internal.h - what the files of hooks/ share. Everything here is read and
 * written with the control lock held, but for what is marked "event side".
 */
#ifndef GKHI_INTERNAL_H
#define GKHI_INTERNAL_H

#include <gkhi/exit.h>
#include <gkhi/hook.h>

#include "core.h"

/* ------------------------------------------------------------------- text */

/* A text that is put together and never overruns (text_out.c). */
struct gkhi_text {
	char *buf;
	size_t size;
	size_t len;			/* without the NUL */
};

void gkhi_text_mem(struct gkhi_text *t, const char *s, size_t n);
void gkhi_text_str(struct gkhi_text *t, const char *s);
void gkhi_text_num(struct gkhi_text *t, uint64_t n);

/* ------------------------------------------------------------------ routes */

/* One thing to do with an event (event side). @channel NULL: call @handler. */
struct gkhi_exit_slot {
	gkhi_exit_fn handler;
	void *context;
	struct gkhi_channel *channel;
};

struct gkhi_exit_list {
	uint32_t n;
	uint32_t reserved;
	struct gkhi_exit_slot slot[];
};

/*
 * struct gkhi_routing - a set of channels; one for all hooks that go there.
 * @users: entries that have it
 * @route: made when the channels are open
 */
struct gkhi_routing {
	struct gkhi_routing *next;
	struct gkhi_route *route;
	uint32_t users;
	uint32_t n;
	struct gkhi_channel *channel[GKHI_HOOK_CHANNELS];
};

/* The routes that are no channel's. */
extern struct gkhi_route gkhi_route_off;	/* the hook is off */
extern struct gkhi_route gkhi_route_gated;	/* a batch runs: ask the epoch */
extern struct gkhi_route gkhi_route_nowhere;	/* on, but its channel is gone: counted */

/* ---------------------------------------------------------------- entries */

/*
 * struct gkhi_site - a key or a pad in an object's text; or where a site is that loads the mode.
 * @target:  where its jump goes; a pad's detour is NULL until it is made
 * @record:  a pad's or a place's; NULL: a key
 * @jumping: the jump is in
 * @why:     the reason that it could not be switched
 */
struct gkhi_site {
	void *code;
	const void *target;
	struct gkhi_hook_entry *entry;
	struct gkhi_hook *hook;
	const struct gkhi_record *record;
	struct gkhi_site *next;
	bool pad;			/* else nothing of its record's is patched */
	bool bare;			/* a pad in the hot path, behind no key */
	bool jumping;
	uint8_t why;
};

/* One object's hook of an entry. */
struct gkhi_hook_ref {
	struct gkhi_hook *hook;
	struct gkhi_hook_ref *next;	/* of the entry */
};

struct gkhi_provider {
	struct gkhi_provider *next;
	bool match;			/* the selector at work wants it */
	uint32_t len;
	char name[];
};

/*
 * struct gkhi_hook_entry - all hooks of one (provider, event, layout).
 *
 * A switch of thousands of hooks walks their entries several times: what it needs
 * lies in the first two cache lines.
 */
struct gkhi_hook_entry {
	/* event side */
	struct gkhi_route *route;
	struct gkhi_route *next_route;	/* after the flip */
	uint64_t *counters;		/* hits, lost */
	uint32_t id;
	uint32_t slot;			/* the port's */

	/* the switch's */
	uint8_t state;			/* asked for */
	uint8_t effective;
	uint8_t why;
	uint8_t plan_state;
	uint8_t plan_effective;
	uint8_t plan_why;
	uint8_t moves;			/* enum gkhi_move, for what has a cold block */
	uint8_t bare_moves;		/* for bare pads */
	bool planned;
	bool plan_list;			/* next_route is this entry's own; when settled: old_list is there */
	bool own_list;			/* route is this entry's own */
	bool trouble;			/* a place of it did not do what the plan wants */
	bool fresh;			/* came with the object that is being added */
	bool selected;			/* by the statement at work */
	uint8_t declared;		/* stream classes whose metadata is out */
	uint8_t states;			/* GKHI_HAS_*, of the event */
	uint32_t n_keys;
	uint32_t n_pads;		/* bare ones too */
	uint16_t n_bare;
	uint16_t n_loads;		/* hooks whose sites load the mode: nothing to patch */
	uint8_t string_words;		/* of the event, for hooks; remembered as @stub is */

	/* second line */
	struct gkhi_hook_ref *hooks;
	struct gkhi_site *sites;
	struct gkhi_routing *routing;
	struct gkhi_routing *plan_routing;
	struct gkhi_exit *exits;	/* registered ones */
	struct gkhi_provider *provider;
	const void *stub;		/* the fastest for @stub_route */
	const struct gkhi_route *stub_route;

	/* seldom */
	const struct gkhi_event *event;	/* event side: a copy of ours; NULL: no descriptor */
	struct gkhi_route *old_list;	/* its own of before, until the grace period is over */
	struct gkhi_hook_entry *hash_next;
	struct gkhi_hook_entry *name_next;
	uint64_t layout;
	uint64_t own_counters[2];
	uint64_t lost[GKHI_N_LOST_REASONS];
	uint64_t suppressed;
	uint16_t name_len;
	char name[];			/* "provider:event" */
};

/* struct gkhi_object - what the core made of one ELF object. */
struct gkhi_object {
	struct gkhi_object *next;
	struct gkhi_module module;	/* its bounds */
	uint32_t users;			/* descriptor sources that name them */
	uint32_t n_hooks;
	uint32_t n_sites;
	uint32_t n_places;		/* that @sites has room for */
	uint32_t n_broken;		/* records, keys and hooks left aside */
	struct gkhi_hook_ref *hooks;
	struct gkhi_site *sites;	/* keys, then pads, both in order of address */
	uint32_t n_keys;
};

/* struct gkhi_later - a batch that waits for objects. */
struct gkhi_later {
	struct gkhi_later *next;
	size_t len;
	char text[];
};

struct gkhi_core {
	struct gkhi_hook_entry **bucket;
	uint32_t n_buckets;
	uint32_t n_entries;
	uint32_t capacity;
	uint32_t n_sites;
	struct gkhi_hook_entry **entry;	/* in order of registration; id = index + 1 */
	struct gkhi_hook_entry *by_name;
	bool sorted;
	struct gkhi_provider *providers;
	struct gkhi_object *objects;
	struct gkhi_channel *channels;
	struct gkhi_routing *routings;
	struct gkhi_later *later;
};

extern struct gkhi_core gkhi_core;

static inline const char *gkhi_entry_event_name(const struct gkhi_hook_entry *e)
{
	return e->name + e->provider->len + 1;
}

/* registry.c */
struct gkhi_hook_entry *gkhi_entry_find(const char *name, size_t len, uint64_t layout);
struct gkhi_hook_entry *gkhi_entry_get(const char *name, size_t len, uint64_t layout);	/* made if need be; NULL: no memory */
void gkhi_entries_pop(uint32_t n);	/* forget the newest, until there are @n */
void gkhi_core_free(void);

/* object_read.c: what is in there; 0 or -ENOMEM. Entries first, then events; sites when the hooks are linked. */
void gkhi_object_measure(struct gkhi_object *o);	/* n_hooks, n_places */
struct gkhi_hook *gkhi_object_hook(const struct gkhi_object *o, const void *at);	/* NULL: none of its hooks */
int gkhi_object_entries(struct gkhi_object *o);
int gkhi_object_events(struct gkhi_object *o);
void gkhi_object_sites(struct gkhi_object *o);
struct gkhi_hook_entry *gkhi_entry_of_event(const struct gkhi_event *event);	/* NULL: no memory */

/* event_copy.c */
struct gkhi_event *gkhi_event_copy(const struct gkhi_event *event);	/* NULL: no memory */
void gkhi_event_copy_free(const struct gkhi_event *copy);

/* record.c: the record at or behind *cursor, which then stands behind it; NULL: the end. */
const struct gkhi_record *gkhi_record_next(const char **cursor, const char *stop, uint32_t *n_broken);

static inline const char *gkhi_record_event(const struct gkhi_record *r)
{
	return (const char *)(r + 1);
}

static inline const char *gkhi_record_function(const struct gkhi_record *r)
{
	const char *event = gkhi_record_event(r);

	return event + strlen(event) + 1;
}

static inline const char *gkhi_record_file(const struct gkhi_record *r)
{
	const char *function = gkhi_record_function(r);

	return function + strlen(function) + 1;
}

/* gkhi_channel.flags */
#define GKHI_CHANNEL_OPEN	0x01
#define GKHI_CHANNEL_OWN_ROUTE	0x02	/* the route is ours, not the backend's */
#define GKHI_CHANNEL_CLIENT	0x04	/* a program writes to it without hooks */

/* channel.c */
struct gkhi_channel *gkhi_channel_find(const char *name, size_t len);
void gkhi_channel_defaults(struct gkhi_channel_config *config, const char *name, size_t len);
struct gkhi_channel *gkhi_channel_new(const struct gkhi_channel_config *config);	/* not open, not listed */
void gkhi_channel_free(struct gkhi_channel *ch);
int gkhi_channel_start(struct gkhi_channel *ch);		/* open */
void gkhi_channel_stop(struct gkhi_channel *ch);		/* close, after the grace period */
void gkhi_channel_abandon(struct gkhi_channel *ch);
void gkhi_channel_list(struct gkhi_channel *ch);
void gkhi_channel_unlist(struct gkhi_channel *ch);
bool gkhi_channel_same(const struct gkhi_channel_config *a, const struct gkhi_channel_config *b);

/* route.c */
struct gkhi_routing *gkhi_routing_get(struct gkhi_channel *const *channel, uint32_t n);	/* NULL: no memory */
int gkhi_routing_resolve(struct gkhi_routing *r);		/* its channels are open: make the route */
void gkhi_routings_trim(void);					/* free what nobody uses */
int gkhi_entry_route(struct gkhi_hook_entry *e, struct gkhi_routing *routing, struct gkhi_route **route, bool *own);
void gkhi_list_route_free(struct gkhi_route *route);

/* exit.c: slots of a hook's list when it goes to @n channels too, 0: no exit is armed; and what they hold. */
uint32_t gkhi_exits_slots(const struct gkhi_hook_entry *e, uint32_t n);
void gkhi_exits_fill(const struct gkhi_hook_entry *e, struct gkhi_channel *const *channel, uint32_t n,
		     struct gkhi_exit_slot *slot);
void gkhi_exits_drop_owner(const struct gkhi_module *owner);

/* state.c: what a transition asks for. */
enum gkhi_move {
	GKHI_ARM_KEYS = 0x01,
	GKHI_ARM_PADS = 0x02,
	GKHI_TO_CALL = 0x04,
	GKHI_TO_PAD = 0x08,
	GKHI_TO_OFF = 0x10,
	GKHI_DISARM_KEYS = 0x20,
	GKHI_DISARM_PADS = 0x40,
};

unsigned int gkhi_moves(enum gkhi_state from, enum gkhi_state to, bool bare);

/* struct gkhi_set - the entries that are planned to be switched (switch.c). */
struct gkhi_set {
	struct gkhi_hook_entry **entry;
	uint32_t n;
	uint32_t capacity;
	unsigned int moves;		/* of any entry */
	bool trouble;			/* of any entry */
	bool lists;			/* an entry's own list goes */
};

extern struct gkhi_set gkhi_set;

/* place.c: room for so many patches; patch what the moves of the set ask for. */
int gkhi_places_reserve(uint32_t n);
void gkhi_places_patch(bool arm);
void gkhi_places_release(void);

/*
 * switch.c. Plan entries, then prepare (may fail, changes nothing), then commit
 * (cannot fail as a whole) or forget.
 */
void gkhi_plan(struct gkhi_hook_entry *e);		/* into the set, as it is now */
int gkhi_plan_prepare(void);
int gkhi_plan_commit(void);				/* -ETIMEDOUT: done, but nothing old may be freed */
void gkhi_plan_forget(void);
void gkhi_plan_release(void);				/* give the memory of sets back */
int gkhi_plan_reserve(uint32_t n_entries);		/* room; gkhi_plan() cannot fail then */

/* dispatch.c, event side */
extern uint32_t gkhi_epoch;		/* 0: entry->route holds, 1: entry->next_route */

/* batch.c: the remembered batches, for entries that are fresh. */
void gkhi_batch_fresh(void);

#endif
