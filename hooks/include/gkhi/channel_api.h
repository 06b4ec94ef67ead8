/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/channel_api.h - a channel without hooks and without YAML: a program's own
 * bytes, timestamped, in the same buffers and traces as events. They are read as
 * events gkhi:raw with one field, data.
 *
 *   call                                   context
 *   gkhi_channel_open, gkhi_channel_close  T
 *   gkhi_channel_reserve, _commit, _write  any, signal handlers too
 *
 * Hooks may go to the same channel.
 */
#ifndef GKHI_CHANNEL_API_H
#define GKHI_CHANNEL_API_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct gkhi_channel;

#define GKHI_RAW_MAX	32768u		/* bytes of one record that any backend may refuse above */

#ifndef __KERNEL__
#pragma GCC visibility push(default)
#endif

/*
 * gkhi_channel_open - make the channel, or take the one that is there already.
 * @what:  as in a channel statement of a batch: "flight mode=discard subbuf_size=1M"
 * @error: what was wrong with it; may be NULL
 * Return: 0, or -errno: as gkhi_control(); -EOPNOTSUPP: the backend takes hooks' events only
 */
int gkhi_channel_open(const char *what, struct gkhi_channel **channel, char *error, size_t size);

/*
 * gkhi_channel_reserve - room for @bytes, to be filled in and committed by this
 * thread; not more than one at a time in one context.
 * Return: NULL: there is none, counted as lost.
 */
void *gkhi_channel_reserve(struct gkhi_channel *channel, size_t bytes);

/* Publish what was reserved: in the channel, whole, or counted as lost. */
void gkhi_channel_commit(struct gkhi_channel *channel, void *reserved);

/* Both, with a copy. 0, or -ENOBUFS, counted as lost. */
int gkhi_channel_write(struct gkhi_channel *channel, const void *data, size_t bytes);

/* No more of it from this program; what it holds stays until "channel NAME -". */
int gkhi_channel_close(struct gkhi_channel *channel);

#ifndef __KERNEL__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
