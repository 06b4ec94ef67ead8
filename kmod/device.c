// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.c - character devices in /dev/gkhi/, made and removed at run time.
 *
 *   call                          context
 *   gkhi_device_add, _remove      task, may sleep
 *   a device's open()             gkhi_devices_lock held: not the control lock
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "gkhi_core.h"

#define GKHI_MINORS	65536

struct gkhi_device {
	const struct file_operations *fops;
	void *priv;
	umode_t mode;
	int minor;
};

static DEFINE_MUTEX(gkhi_devices_lock);
static DEFINE_IDR(gkhi_devices);
static int gkhi_major;
static struct class *gkhi_class;

/* The file goes on with the operations of its device, whose module it holds. */
static int gkhi_device_open(struct inode *inode, struct file *file)
{
	const struct file_operations *fops;
	struct gkhi_device *device;
	int err = -ENXIO;

	mutex_lock(&gkhi_devices_lock);
	device = idr_find(&gkhi_devices, iminor(inode));
	fops = device ? fops_get(device->fops) : NULL;
	if (fops) {
		replace_fops(file, fops);
		file->private_data = device->priv;
		err = fops->open ? fops->open(inode, file) : 0;
	}
	mutex_unlock(&gkhi_devices_lock);
	return err;
}

static const struct file_operations gkhi_any_fops = {
	.owner = THIS_MODULE,
	.open = gkhi_device_open,
	.llseek = noop_llseek,
};

/**
 * gkhi_device_add - make /dev/gkhi/@name
 * @name: without the folder
 * @mode: permissions
 * @fops: of the files; its owner is held while one is open
 * @priv: file->private_data as its open() finds it
 *
 * Context: task, may sleep.
 * Return: the device, or an ERR_PTR.
 */
struct gkhi_device *gkhi_device_add(const char *name, umode_t mode, const struct file_operations *fops, void *priv)
{
	struct gkhi_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	struct device *made;
	int err;

	if (!device)
		return ERR_PTR(-ENOMEM);
	device->fops = fops;
	device->priv = priv;
	device->mode = mode;
	mutex_lock(&gkhi_devices_lock);
	device->minor = idr_alloc(&gkhi_devices, device, 0, GKHI_MINORS, GFP_KERNEL);
	mutex_unlock(&gkhi_devices_lock);
	err = device->minor;
	if (err < 0)
		goto free;
	made = device_create(gkhi_class, NULL, MKDEV(gkhi_major, device->minor), device, "gkhi!%s", name);
	if (!IS_ERR(made))
		return device;
	err = PTR_ERR(made);
	mutex_lock(&gkhi_devices_lock);
	idr_remove(&gkhi_devices, device->minor);
	mutex_unlock(&gkhi_devices_lock);
free:
	kfree(device);
	return ERR_PTR(err);
}
GKHI_EXPORT(gkhi_device_add);

/**
 * gkhi_device_remove - no file is opened any more when this returns
 * @device: from gkhi_device_add(), or NULL or its error
 *
 * Context: task, may sleep.
 */
void gkhi_device_remove(struct gkhi_device *device)
{
	if (IS_ERR_OR_NULL(device))
		return;
	device_destroy(gkhi_class, MKDEV(gkhi_major, device->minor));
	mutex_lock(&gkhi_devices_lock);
	idr_remove(&gkhi_devices, device->minor);
	mutex_unlock(&gkhi_devices_lock);
	kfree(device);
}
GKHI_EXPORT(gkhi_device_remove);

static char *gkhi_devnode(GKHI_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	const struct gkhi_device *device = dev_get_drvdata(dev);

	if (mode && device)
		*mode = device->mode;
	return NULL;
}

int __init gkhi_devices_init(void)
{
	gkhi_major = __register_chrdev(0, 0, GKHI_MINORS, "gkhi", &gkhi_any_fops);
	if (gkhi_major < 0)
		return gkhi_major;
	gkhi_class = gkhi_class_create("gkhi");
	if (IS_ERR(gkhi_class)) {
		__unregister_chrdev(gkhi_major, 0, GKHI_MINORS, "gkhi");
		return PTR_ERR(gkhi_class);
	}
	gkhi_class->devnode = gkhi_devnode;
	return 0;
}

void gkhi_devices_exit(void)
{
	class_destroy(gkhi_class);
	__unregister_chrdev(gkhi_major, 0, GKHI_MINORS, "gkhi");
	idr_destroy(&gkhi_devices);
}
