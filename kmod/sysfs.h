/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sysfs.h - what the files of /sys/kernel/gkhi share.
 *
 *   who                        context
 *   show and store             task; take the control lock
 *   gkhi_*_dirs_*              the one work item of sysfs.c, or init and exit; the
 *                              control lock not held: removing a file waits for its
 *                              handlers
 */
#ifndef GKHI_KMOD_SYSFS_H
#define GKHI_KMOD_SYSFS_H

#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "gkhi_core.h"

/* sysfs.c: run a batch for a store(): @len, or -errno. */
ssize_t gkhi_store_batch(const char *batch, size_t len);

/* One word of at most a page less one byte: 0, -E2BIG or -EINVAL. Its length without the newline: *n. */
int gkhi_store_word(const char *buf, size_t len, size_t *n);

/* sysfs_event.c */
int gkhi_event_dirs_init(struct kobject *root);
void gkhi_event_dirs_update(void);
void gkhi_event_dirs_exit(void);

/* sysfs_channel.c */
int gkhi_channel_dirs_init(struct kobject *root);
void gkhi_channel_dirs_update(void);
void gkhi_channel_dirs_exit(void);

#endif
