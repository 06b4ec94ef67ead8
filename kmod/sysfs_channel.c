// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs_channel.c - the files of each channel: backend, mode, subbuf_size,
 * n_subbufs, events, lost, snapshot. What was configured never changes while the
 * channel is there; the rest is asked of the backend.
 */
#include <linux/list.h>
#include <linux/slab.h>

#include "../hooks/batch.h"
#include "sysfs.h"

struct gkhi_channel_dir {
	struct kobject kobj;
	struct list_head list;
	struct gkhi_channel_config config;
};

static LIST_HEAD(gkhi_channel_dirs);
static struct kobject *gkhi_channels;

static struct gkhi_channel_config *gkhi_config_of(struct kobject *kobj)
{
	return &container_of(kobj, struct gkhi_channel_dir, kobj)->config;
}

static ssize_t backend_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", gkhi_config_of(kobj)->backend);
}

static ssize_t mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct gkhi_channel_config *config = gkhi_config_of(kobj);

	return sysfs_emit(buf, "%s\n", gkhi_mode_name(config->backend, config->mode));
}

static ssize_t subbuf_size_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", gkhi_config_of(kobj)->subbuf_size);
}

static ssize_t n_subbufs_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", gkhi_config_of(kobj)->n_subbufs);
}

/* Control lock held; NULL: it has gone meanwhile. */
static struct gkhi_channel *gkhi_channel_of(struct kobject *kobj)
{
	const char *name = kobject_name(kobj);
	struct gkhi_channel *ch = gkhi_channel_find(name, strlen(name));

	return ch && ch->flags & GKHI_CHANNEL_OPEN ? ch : NULL;
}

static int gkhi_channel_stats_of(struct kobject *kobj, struct gkhi_channel_stats *stats)
{
	struct gkhi_channel *ch;

	memset(stats, 0, sizeof(*stats));
	port_control_lock();
	ch = gkhi_channel_of(kobj);
	if (ch)
		ch->backend->stats(ch, stats);
	port_control_unlock();
	return ch ? 0 : -ENODEV;
}

static ssize_t events_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gkhi_channel_stats stats;
	int err = gkhi_channel_stats_of(kobj, &stats);

	return err ? err : sysfs_emit(buf, "%llu\n", stats.events);
}

static ssize_t lost_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gkhi_channel_stats stats;
	int i, err = gkhi_channel_stats_of(kobj, &stats);
	u64 sum = 0;

	for (i = 0; i < GKHI_N_LOST_REASONS; i++)
		sum += stats.lost[i];
	return err ? err : sysfs_emit(buf, "%llu\n", sum);
}

/* "1": close open packets, so that what was written until now can be read. */
static ssize_t snapshot_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	struct gkhi_channel *ch;
	size_t n;
	int err = gkhi_store_word(buf, len, &n);

	if (err)
		return err;
	if (n != 1 || buf[0] != '1')
		return -EINVAL;
	port_control_lock();
	ch = gkhi_channel_of(kobj);
	if (ch && ch->backend->finalize)
		ch->backend->finalize(ch);
	port_control_unlock();
	return ch ? len : -ENODEV;
}

static struct kobj_attribute backend_attr = __ATTR_RO_MODE(backend, 0400);
static struct kobj_attribute mode_attr = __ATTR_RO_MODE(mode, 0400);
static struct kobj_attribute subbuf_size_attr = __ATTR_RO_MODE(subbuf_size, 0400);
static struct kobj_attribute n_subbufs_attr = __ATTR_RO_MODE(n_subbufs, 0400);
static struct kobj_attribute events_attr = __ATTR_RO_MODE(events, 0400);
static struct kobj_attribute lost_attr = __ATTR_RO_MODE(lost, 0400);
static struct kobj_attribute snapshot_attr = __ATTR(snapshot, 0200, NULL, snapshot_store);

static struct attribute *gkhi_channel_attrs[] = {
	&backend_attr.attr, &mode_attr.attr, &subbuf_size_attr.attr, &n_subbufs_attr.attr,
	&events_attr.attr, &lost_attr.attr, &snapshot_attr.attr, NULL,
};
ATTRIBUTE_GROUPS(gkhi_channel);

static void gkhi_channel_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct gkhi_channel_dir, kobj));
}

static const struct kobj_type gkhi_channel_ktype = {
	.release = gkhi_channel_dir_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = gkhi_channel_groups,
};

/* ------------------------------------------------------------------------- folders */

static void gkhi_channel_dir_remove(struct gkhi_channel_dir *d)
{
	list_del(&d->list);
	kobject_del(&d->kobj);
	kobject_put(&d->kobj);
}

static void gkhi_channel_dir_add(const struct gkhi_channel_config *config)
{
	struct gkhi_channel_dir *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return;
	d->config = *config;
	if (kobject_init_and_add(&d->kobj, (struct kobj_type *)&gkhi_channel_ktype, gkhi_channels, "%s",
				 config->name)) {
		kobject_put(&d->kobj);
		return;
	}
	list_add_tail(&d->list, &gkhi_channel_dirs);
}

static bool gkhi_channel_dir_has(const struct gkhi_channel_config *config)
{
	const struct gkhi_channel_dir *d;

	list_for_each_entry(d, &gkhi_channel_dirs, list) {
		if (gkhi_channel_same(&d->config, config))
			return true;
	}
	return false;
}

static bool gkhi_channel_still(const struct gkhi_channel_config *config, const struct gkhi_channel_config *now, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (gkhi_channel_same(&now[i], config))
			return true;
	}
	return false;
}

static u32 gkhi_channel_configs(struct gkhi_channel_config *now)
{
	const struct gkhi_channel *ch;
	u32 n = 0;

	port_control_lock();
	for (ch = gkhi_core_channels(); ch && n < GKHI_CHANNELS_MAX; ch = ch->next)
		now[n++] = ch->config;
	port_control_unlock();
	return n;
}

void gkhi_channel_dirs_update(void)
{
	struct gkhi_channel_config *now = kcalloc(GKHI_CHANNELS_MAX, sizeof(*now), GFP_KERNEL);
	struct gkhi_channel_dir *d, *next;
	u32 i, n;

	if (!now)
		return;
	n = gkhi_channel_configs(now);
	list_for_each_entry_safe(d, next, &gkhi_channel_dirs, list) {
		if (!gkhi_channel_still(&d->config, now, n))
			gkhi_channel_dir_remove(d);
	}
	for (i = 0; i < n; i++) {
		if (!gkhi_channel_dir_has(&now[i]))
			gkhi_channel_dir_add(&now[i]);
	}
	kfree(now);
}

int __init gkhi_channel_dirs_init(struct kobject *root)
{
	gkhi_channels = kobject_create_and_add("channels", root);
	return gkhi_channels ? 0 : -ENOMEM;
}

void gkhi_channel_dirs_exit(void)
{
	struct gkhi_channel_dir *d, *next;

	list_for_each_entry_safe(d, next, &gkhi_channel_dirs, list)
		gkhi_channel_dir_remove(d);
	kobject_put(gkhi_channels);
}
