// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * channel.c - configured instances of backends: made, found by name, opened,
 * closed when the grace period after their last user is over.
 *
 *   call             context              may run against
 *   everything       control lock held    dispatch, which uses open channels
 */
#include "internal.h"

#define GKHI_DEFAULT_SUBBUF	(256u << 10)
#define GKHI_DEFAULT_SUBBUFS	4u

struct gkhi_channel *gkhi_core_channels(void)
{
	return gkhi_core.channels;
}

struct gkhi_channel *gkhi_channel_find(const char *name, size_t len)
{
	struct gkhi_channel *ch;

	for (ch = gkhi_core.channels; ch; ch = ch->next) {
		if (strlen(ch->config.name) == len && !memcmp(ch->config.name, name, len))
			return ch;
	}
	return NULL;
}

void gkhi_channel_defaults(struct gkhi_channel_config *config, const char *name, size_t len)
{
	memset(config, 0, sizeof(*config));
	if (len >= sizeof(config->name))
		len = sizeof(config->name) - 1;
	memcpy(config->name, name, len);
	memcpy(config->backend, "ring", sizeof("ring"));
	config->mode = GKHI_RING_OVERWRITE;
	config->stream_class = GKHI_STREAM_COMPACT;
	config->subbuf_size = GKHI_DEFAULT_SUBBUF;
	config->n_subbufs = GKHI_DEFAULT_SUBBUFS;
}

bool gkhi_channel_same(const struct gkhi_channel_config *a, const struct gkhi_channel_config *b)
{
	return !memcmp(a, b, sizeof(*a));
}

struct gkhi_channel *gkhi_channel_new(const struct gkhi_channel_config *config)
{
	struct gkhi_channel *ch = port_alloc(sizeof(*ch));

	if (!ch)
		return NULL;
	ch->config = *config;
	ch->backend = gkhi_backend_find(config->backend);
	return ch;
}

void gkhi_channel_free(struct gkhi_channel *ch)
{
	port_free(ch, sizeof(*ch));
}

int gkhi_channel_start(struct gkhi_channel *ch)
{
	int err = ch->backend->open(ch);

	if (err)
		return err;
	if (!ch->route) {
		ch->route = port_alloc(sizeof(*ch->route));
		if (!ch->route) {
			ch->backend->close(ch);
			return -ENOMEM;
		}
		ch->route->channel = ch;
		ch->flags |= GKHI_CHANNEL_OWN_ROUTE;
	}
	ch->flags |= GKHI_CHANNEL_OPEN;
	return 0;
}

void gkhi_channel_stop(struct gkhi_channel *ch)
{
	if (!(ch->flags & GKHI_CHANNEL_OPEN))
		return;
	if (ch->flags & GKHI_CHANNEL_OWN_ROUTE) {
		port_free(ch->route, sizeof(*ch->route));
		ch->route = NULL;
	}
	ch->flags &= ~(GKHI_CHANNEL_OPEN | GKHI_CHANNEL_OWN_ROUTE);
	ch->backend->close(ch);
	ch->route = NULL;
}

/* Not closed, since somebody may be inside; never used again. */
void gkhi_channel_abandon(struct gkhi_channel *ch)
{
	ch->flags &= ~(GKHI_CHANNEL_OPEN | GKHI_CHANNEL_OWN_ROUTE);
	ch->route = NULL;
	memset(ch->priv, 0, sizeof(ch->priv));
}

void gkhi_channel_list(struct gkhi_channel *ch)
{
	struct gkhi_channel **at = &gkhi_core.channels;

	while (*at)
		at = &(*at)->next;
	ch->next = NULL;
	*at = ch;
}

void gkhi_channel_unlist(struct gkhi_channel *ch)
{
	struct gkhi_channel **at = &gkhi_core.channels;

	while (*at && *at != ch)
		at = &(*at)->next;
	if (*at)
		*at = ch->next;
}
