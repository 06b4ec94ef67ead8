// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * route.c - where a hook's events go: the routes of channels, of sets of
 * channels, and of hooks with exits of their own.
 *
 *   route                 made by        lives until
 *   of one channel        its backend    the channel is closed
 *   of several channels   routing        no entry has the routing, plus a grace period
 *   with exits            entry          the entry's next switch, plus a grace period
 *   off, gated, nowhere   -              for ever
 */
#include "internal.h"

static const struct gkhi_exit_list gkhi_no_exits;

/* No cpus: the stubs come to gkhi_dispatch(), which knows these by their address. */
struct gkhi_route gkhi_route_off = { .exits = &gkhi_no_exits };
struct gkhi_route gkhi_route_gated = { .exits = &gkhi_no_exits };
struct gkhi_route gkhi_route_nowhere = { .exits = &gkhi_no_exits };

static size_t gkhi_list_route_size(uint32_t n)
{
	return sizeof(struct gkhi_route) + sizeof(struct gkhi_exit_list) + n * sizeof(struct gkhi_exit_slot);
}

/* A route with a list of @n slots behind it in the same block. */
static struct gkhi_route *gkhi_list_route(uint32_t n, struct gkhi_exit_list **list)
{
	struct gkhi_route *route = port_alloc(gkhi_list_route_size(n));

	if (!route)
		return NULL;
	*list = (struct gkhi_exit_list *)(route + 1);
	(*list)->n = n;
	route->exits = *list;
	return route;
}

void gkhi_list_route_free(struct gkhi_route *route)
{
	if (route)
		port_free(route, gkhi_list_route_size(route->exits->n));
}

struct gkhi_routing *gkhi_routing_get(struct gkhi_channel *const *channel, uint32_t n)
{
	struct gkhi_routing *r;

	for (r = gkhi_core.routings; r; r = r->next) {
		if (r->n == n && !memcmp(r->channel, channel, n * sizeof(*channel)))
			return r;
	}
	r = port_alloc(sizeof(*r));
	if (!r)
		return NULL;
	r->n = n;
	memcpy(r->channel, channel, n * sizeof(*channel));
	r->next = gkhi_core.routings;
	gkhi_core.routings = r;
	return r;
}

int gkhi_routing_resolve(struct gkhi_routing *r)
{
	struct gkhi_exit_list *list;
	uint32_t i;

	if (r->route)
		return 0;
	for (i = 0; i < r->n; i++) {
		if (!(r->channel[i]->flags & GKHI_CHANNEL_OPEN)) {
			r->route = NULL;
			return -ENXIO;
		}
	}
	if (r->n == 1) {
		r->route = r->channel[0]->route;
		return 0;
	}
	r->route = gkhi_list_route(r->n, &list);
	if (!r->route)
		return -ENOMEM;
	for (i = 0; i < r->n; i++)
		list->slot[i].channel = r->channel[i];
	return 0;
}

void gkhi_routings_trim(void)
{
	struct gkhi_routing **at = &gkhi_core.routings;

	while (*at) {
		struct gkhi_routing *r = *at;

		if (r->users) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		if (r->n > 1)
			gkhi_list_route_free(r->route);
		port_free(r, sizeof(*r));
	}
}

/* The route of @e when it is on: its routing's, or a list of its own when exits are armed. */
int gkhi_entry_route(struct gkhi_hook_entry *e, struct gkhi_routing *routing, struct gkhi_route **route, bool *own)
{
	uint32_t slots = gkhi_exits_slots(e, routing->n);
	struct gkhi_exit_list *list;
	int err;

	*own = slots != 0;
	if (!slots) {
		err = gkhi_routing_resolve(routing);
		*route = routing->route;
		return err;
	}
	*route = gkhi_list_route(slots, &list);
	if (!*route)
		return -ENOMEM;
	gkhi_exits_fill(e, routing->channel, routing->n, list->slot);
	return 0;
}
