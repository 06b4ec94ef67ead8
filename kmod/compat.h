/* SPDX-License-Identifier: GPL-2.0-only */
/* compat.h - all that differs between the kernels that gkhi builds for: 6.1 to 6.12 and later. */
#ifndef GKHI_KMOD_COMPAT_H
#define GKHI_KMOD_COMPAT_H

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>

/* Symbol namespaces are strings from 6.13 on. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define GKHI_EXPORT(sym)	EXPORT_SYMBOL_NS_GPL(sym, "GKHI")
#define GKHI_IMPORT		MODULE_IMPORT_NS("GKHI")
#else
#define GKHI_EXPORT(sym)	EXPORT_SYMBOL_NS_GPL(sym, GKHI)
#define GKHI_IMPORT		MODULE_IMPORT_NS(GKHI)
#endif

/* Classes lost their owner in 6.4, their callbacks' writable argument in 6.2. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define gkhi_class_create(name)	class_create(name)
#else
#define gkhi_class_create(name)	class_create(THIS_MODULE, name)
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define GKHI_DEVNODE_CONST	const
#else
#define GKHI_DEVNODE_CONST
#endif

/* A mapping's flags are changed by calls from 6.3 on. */
static inline void gkhi_vm_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

#endif
