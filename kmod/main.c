// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - gkhi.ko: comes and goes. It needs no other module and no other module
 * needs it, but for backends and clients of channels.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "gkhi_core.h"

static int __init gkhi_init(void)
{
	int err;

	gkhi_clock_init();
	err = gkhi_metadata_init();
	if (err)
		goto metadata;
	err = gkhi_devices_init();
	if (err)
		goto metadata;
	err = gkhi_control_init();
	if (err)
		goto devices;
	err = gkhi_sysfs_init();
	if (err)
		goto control;
	err = gkhi_modules_init();
	if (!err)
		return 0;
	gkhi_sysfs_exit();
control:
	gkhi_control_exit();
devices:
	gkhi_devices_exit();
metadata:
	gkhi_metadata_exit();
	return err;
}

/* Every open file, channel and backend holds the module: only hooks may still be on. */
static void __exit gkhi_exit(void)
{
	gkhi_control_exit();
	gkhi_modules_exit();
	gkhi_markers_exit();
	gkhi_sysfs_exit();
	gkhi_devices_exit();
	port_control_lock();
	gkhi_core_free();
	port_control_unlock();
	gkhi_metadata_exit();
}

module_init(gkhi_init);
module_exit(gkhi_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Generic hooks: events declared once, switched at run time");
