// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend_printk.c - gkhi_printk.ko: backends/printk/ with the kernel's log as its
 * sink, and what it asks of its port.
 *
 *   call                                    context
 *   write, port_sink_write                  any up to NMI, preemption off, behind
 *                                           the core's recursion guard
 *   the rest                                task, control lock held
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "../backends/backends.h"
#include "../backends/payload.h"
#include "compat.h"
#include "gkhi_kernel.h"
#include "record.h"

void *port_alloc(size_t size)
{
	return kvzalloc(size, GFP_KERNEL);
}

void port_free(void *p, size_t size)
{
	kvfree(p);
}

u64 port_nanoseconds(void)
{
	return ktime_get_mono_fast_ns();
}

/* There is one sink, and nothing to open: what is not NULL means it. */
static char printk_log;

int port_sink_open(const char *target, struct port_sink **sink)
{
	*sink = (struct port_sink *)&printk_log;
	return 0;
}

void port_sink_close(struct port_sink *sink)
{
}

int port_sink_write(struct port_sink *sink, unsigned int level, const char *text, size_t n)
{
	_printk(KERN_SOH "%c%.*s", '0' + min(level, 7u), (int)n, text);
	return 0;
}

u32 gkhi_string_length(const char *s, u32 max)
{
	return strnlen(s, max);
}

struct gkhi_tail gkhi_tail_of(const struct gkhi_payload *payload, const struct gkhi_field *field, u64 pointer)
{
	struct gkhi_tail tail = {
		.from = (const void *)(uintptr_t)pointer,
		.bytes = krecord_tail_bytes(payload, field, pointer),
	};

	if (field->type == GKHI_T_STRING) {
		tail.from = krecord_string(pointer);
		tail.string = true;
	}
	return tail;
}

/* "target" is for programs. */
static int printk_open(struct gkhi_channel *ch)
{
	return ch->config.target[0] ? -EINVAL : gkhi_backend_printk.open(ch);
}

static struct gkhi_backend printk_ops;

static struct gkhi_kernel_backend printk_backend = {
	.ops = &printk_ops,
	.owner = THIS_MODULE,
};

static int __init printk_init(void)
{
	printk_ops = gkhi_backend_printk;
	printk_ops.open = printk_open;
	return gkhi_backend_register(&printk_backend);
}

static void __exit printk_exit(void)
{
	gkhi_backend_unregister(&printk_backend);
}

module_init(printk_init);
module_exit(printk_exit);
MODULE_DESCRIPTION("gkhi: events as lines of the kernel log");
MODULE_LICENSE("GPL");
GKHI_IMPORT;
