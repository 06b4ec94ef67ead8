// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs.c - /sys/kernel/gkhi: made when gkhi.ko comes, kept as the core says by
 * one work item. See sysfs.h and kmod/Documentation/ABI/testing/sysfs-kernel-gkhi.
 */
#include <linux/ctype.h>
#include <linux/workqueue.h>

#include "sysfs.h"

static struct kobject *gkhi_root;

static void gkhi_sysfs_work_fn(struct work_struct *work)
{
	gkhi_event_dirs_update();
	gkhi_channel_dirs_update();
}

static DECLARE_WORK(gkhi_sysfs_work, gkhi_sysfs_work_fn);

/* @wait: not from within a file of this tree, nor with a lock that one of them takes. */
void gkhi_sysfs_update(bool wait)
{
	queue_work(system_unbound_wq, &gkhi_sysfs_work);
	if (wait)
		flush_work(&gkhi_sysfs_work);
}

void port_channels_changed(void)
{
	gkhi_sysfs_update(false);
}

int gkhi_store_word(const char *buf, size_t len, size_t *n)
{
	size_t i;

	/* sysfs hands a longer write over in pages: the first one is full */
	if (len >= PAGE_SIZE - 1)
		return -E2BIG;
	*n = len;
	if (len && buf[len - 1] == '\n')
		--*n;
	for (i = 0; i < *n; i++) {
		if (!buf[i] || (!isalnum(buf[i]) && !strchr("_.,-", buf[i])))
			return -EINVAL;
	}
	return *n ? 0 : -EINVAL;
}

ssize_t gkhi_store_batch(const char *batch, size_t len)
{
	int err = gkhi_control_run(batch, strlen(batch), NULL, 0);

	return err ? err : len;
}

static ssize_t faults_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", (u64)atomic64_read(&port_faults));
}

static struct kobj_attribute faults_attr = __ATTR_RO_MODE(faults, 0400);

int __init gkhi_sysfs_init(void)
{
	int err;

	gkhi_root = kobject_create_and_add("gkhi", kernel_kobj);
	if (!gkhi_root)
		return -ENOMEM;
	err = sysfs_create_file(gkhi_root, &faults_attr.attr);
	if (!err)
		err = gkhi_event_dirs_init(gkhi_root);
	if (err)
		goto put;
	err = gkhi_channel_dirs_init(gkhi_root);
	if (!err)
		return 0;
	gkhi_event_dirs_exit();
put:
	kobject_put(gkhi_root);
	return err;
}

void gkhi_sysfs_exit(void)
{
	cancel_work_sync(&gkhi_sysfs_work);
	gkhi_channel_dirs_exit();
	gkhi_event_dirs_exit();
	kobject_put(gkhi_root);
}
