// SPDX-License-Identifier: GPL-2.0-only
/*
 * control.c - /dev/gkhi/control: every write is one batch, of any length, all or
 * nothing; reading tells why the last batch of this file was refused.
 * /dev/gkhi/metadata: the metadata, which grows; poll says when.
 *
 *   everything       task, may sleep; takes the control lock
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../hooks/batch.h"
#include "gkhi_core.h"

#define GKHI_ERROR_SIZE	2048

struct gkhi_control_file {
	struct mutex lock;
	size_t len;
	char error[GKHI_ERROR_SIZE];
};

int gkhi_control_run(const char *text, size_t len, char *error, size_t error_size)
{
	int err;

	port_control_lock();
	err = gkhi_batch_run(text, len, 0, error, error_size);
	port_control_unlock();
	return err;
}

static int gkhi_control_open(struct inode *inode, struct file *file)
{
	struct gkhi_control_file *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	mutex_init(&c->lock);
	file->private_data = c;
	return nonseekable_open(inode, file);
}

static int gkhi_control_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static ssize_t gkhi_control_write(struct file *file, const char __user *from, size_t len, loff_t *at)
{
	struct gkhi_control_file *c = file->private_data;
	char *text;
	int err;

	if (len > GKHI_BATCH_MAX)
		return -E2BIG;
	text = vmemdup_user(from, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&c->lock);
	err = gkhi_control_run(text, len, c->error, sizeof(c->error));
	c->len = err ? strlen(c->error) : 0;
	mutex_unlock(&c->lock);
	kvfree(text);
	gkhi_sysfs_update(true);
	return err ? err : len;
}

/* Once: what was read is gone. */
static ssize_t gkhi_control_read(struct file *file, char __user *to, size_t len, loff_t *at)
{
	struct gkhi_control_file *c = file->private_data;
	ssize_t n;

	mutex_lock(&c->lock);
	n = min(len, c->len);
	if (copy_to_user(to, c->error, n)) {
		n = -EFAULT;
	} else {
		c->len -= n;
		memmove(c->error, c->error + n, c->len);
	}
	mutex_unlock(&c->lock);
	return n;
}

static const struct file_operations gkhi_control_fops = {
	.owner = THIS_MODULE,
	.open = gkhi_control_open,
	.release = gkhi_control_release,
	.read = gkhi_control_read,
	.write = gkhi_control_write,
};

static ssize_t gkhi_metadata_read(struct file *file, char __user *to, size_t len, loff_t *at)
{
	size_t room = min_t(size_t, len, PAGE_SIZE), n;
	char *page = kmalloc(PAGE_SIZE, GFP_KERNEL);
	ssize_t done = 0;

	if (!page)
		return -ENOMEM;
	while (len && (n = gkhi_metadata_copy(page, room, *at))) {
		if (copy_to_user(to + done, page, n)) {
			done = done ? done : -EFAULT;
			break;
		}
		done += n;
		*at += n;
		len -= n;
		room = min_t(size_t, len, PAGE_SIZE);
	}
	kfree(page);
	return done;
}

static __poll_t gkhi_metadata_poll(struct file *file, poll_table *wait)
{
	poll_wait(file, &gkhi_metadata.wait, wait);
	return file->f_pos < READ_ONCE(gkhi_metadata.size) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations gkhi_metadata_fops = {
	.owner = THIS_MODULE,
	.read = gkhi_metadata_read,
	.poll = gkhi_metadata_poll,
	.llseek = default_llseek,
};

static struct gkhi_device *gkhi_control_device;
static struct gkhi_device *gkhi_metadata_device;

int __init gkhi_control_init(void)
{
	gkhi_control_device = gkhi_device_add("control", 0600, &gkhi_control_fops, NULL);
	if (IS_ERR(gkhi_control_device))
		return PTR_ERR(gkhi_control_device);
	gkhi_metadata_device = gkhi_device_add("metadata", 0400, &gkhi_metadata_fops, NULL);
	if (IS_ERR(gkhi_metadata_device)) {
		gkhi_device_remove(gkhi_control_device);
		return PTR_ERR(gkhi_metadata_device);
	}
	return 0;
}

void gkhi_control_exit(void)
{
	gkhi_device_remove(gkhi_metadata_device);
	gkhi_device_remove(gkhi_control_device);
}
