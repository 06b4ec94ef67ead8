/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gkhi_core.h - what the files of gkhi.ko share.
 *
 * Locks, outermost first:
 *   gkhi_modules_mutex   hooked modules come and go
 *   gkhi_markers_mutex   probes are registered
 *   control lock         the core (hooks/internal.h)
 *   gkhi_metadata_lock   the metadata's text
 * The files in sysfs are made and removed by one work item, which holds none of
 * them meanwhile: their handlers take the control lock.
 */
#ifndef GKHI_KMOD_CORE_H
#define GKHI_KMOD_CORE_H

#include <linux/module.h>

#include "../hooks/internal.h"
#include "compat.h"
#include "gkhi_kernel.h"

/* port_linux.c */
void gkhi_clock_init(void);
void gkhi_call_update(struct gkhi_hook *hook, void *stub);

/* stub.c: no hook uses a stub of @owner any more (control lock held; waits). */
void gkhi_stubs_forget(const struct module *owner);

/* marker.c: kprobes on pads. */
int gkhi_marker_switch(void *marker, bool on);	/* 0, -EINPROGRESS or why not */
void gkhi_markers_wanted(struct gkhi_hook_entry *e);
void gkhi_markers_lock(void);
void gkhi_markers_unlock(void);
void gkhi_markers_drop(const struct module *mod, bool alive);	/* both locks held */
enum gkhi_why gkhi_markers_why(const struct gkhi_hook_entry *e);	/* TRAP or OPTIMISED */
u64 gkhi_markers_missed(const struct gkhi_hook_entry *e);
void gkhi_markers_exit(void);

/* module.c: discovery. */
int gkhi_modules_init(void);
void gkhi_modules_exit(void);

/* metadata.c */
int gkhi_metadata_init(void);
void gkhi_metadata_exit(void);

/* device.c: /dev/gkhi/ */
int gkhi_devices_init(void);
void gkhi_devices_exit(void);

/* control.c: /dev/gkhi/control and /dev/gkhi/metadata */
int gkhi_control_init(void);
void gkhi_control_exit(void);
int gkhi_control_run(const char *text, size_t len, char *error, size_t error_size);

/* hook.c: per-cpu counts */
struct gkhi_totals {
	u64 hits;
	u64 lost;
};

void gkhi_entry_totals(const struct gkhi_hook_entry *e, struct gkhi_totals *totals);
u32 gkhi_entry_sites(const struct gkhi_hook_entry *e);

/* sysfs.c: /sys/kernel/gkhi */
int gkhi_sysfs_init(void);
void gkhi_sysfs_exit(void);
void gkhi_sysfs_update(bool wait);	/* make it show what there is now */

#endif
