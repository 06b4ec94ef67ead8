// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * client_write.c - write a program's own bytes to a channel.
 *
 *   call                               context                  may run against
 *   gkhi_channel_reserve, _commit,     any, signal handlers     everything but the close of
 *   gkhi_channel_write                                          this channel
 *
 * A payload is one word with the number of bytes, then the bytes, then zeros up to a
 * word: what the event gkhi:raw says.
 */
#include <gkhi/channel_api.h>

#include "client.h"

void *gkhi_channel_reserve(struct gkhi_channel *channel, size_t bytes)
{
	uint32_t words = 1 + (uint32_t)((bytes + 7) / 8);
	uint64_t *payload;

	/* closed: in the child of a fork */
	if (bytes > GKHI_RAW_MAX || !(PORT_READ_ONCE(channel->flags) & GKHI_CHANNEL_OPEN))
		return NULL;
	payload = channel->backend->reserve(channel, PORT_READ_ONCE(gkhi_raw_id), words);
	if (!payload)
		return NULL;
	payload[words - 1] = 0;
	payload[0] = bytes;
	return payload + 1;
}

void gkhi_channel_commit(struct gkhi_channel *channel, void *reserved)
{
	channel->backend->commit(channel, (uint64_t *)reserved - 1);
}

int gkhi_channel_write(struct gkhi_channel *channel, const void *data, size_t bytes)
{
	char *to = gkhi_channel_reserve(channel, bytes);
	const char *from = data;
	size_t i;

	if (!to)
		return -ENOBUFS;
	for (i = 0; i < bytes; i++)
		to[i] = from[i];
	gkhi_channel_commit(channel, to);
	return 0;
}
