/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/module_kernel.h - what makes the hooks of a kernel module: included by the
 * descriptor sources that genevent writes.
 *
 * A hook is an object in section gkhi_hooks with its static key inside, and a
 * static call beside it. No code runs and no symbol of gkhi.ko is used: gkhi.ko
 * finds the sections by the symbols that kmod/gkhi.lds puts round them.
 */
#ifndef GKHI_MODULE_KERNEL_H
#define GKHI_MODULE_KERNEL_H

#include <gkhi/hook.h>

/* An array element of the section: no more alignment than its type has. */
#define GKHI_EVENT	__used __aligned(8) __section("gkhi_events")

#ifdef GKHI_CONFIG_OFF

#define GKHI_INSTANCE(sym, event, lo, hi, words)
#define GKHI_INSTANCE_BARE(sym, event, lo, hi, words)

#else

#define GKHI_HOOK_HEAD(sym, event, lo, hi, words)				\
		.layout = (u64)(hi) << 32 | (lo),				\
		.fixed_words = (words),						\
		.name = event

#define GKHI_INSTANCE(sym, event, lo, hi, words)				\
	extern struct gkhi_hook gkhi_hook_##sym;				\
	DEFINE_STATIC_CALL_NULL(gkhi_call_##sym, gkhi_stub_type);		\
	struct gkhi_hook gkhi_hook_##sym __used __section("gkhi_hooks") = {	\
		GKHI_HOOK_HEAD(sym, event, lo, hi, words),			\
		.key = STATIC_KEY_FALSE_INIT,					\
		.call_key = &STATIC_CALL_KEY(gkhi_call_##sym),			\
		.call_tramp = STATIC_CALL_TRAMP_ADDR(gkhi_call_##sym),		\
	};

#define GKHI_INSTANCE_BARE(sym, event, lo, hi, words)				\
	extern struct gkhi_hook gkhi_hook_##sym;				\
	struct gkhi_hook gkhi_hook_##sym __used __section("gkhi_hooks") = {	\
		GKHI_HOOK_HEAD(sym, event, lo, hi, words),			\
		.flags = GKHI_HOOK_F_BARE,					\
		.key = STATIC_KEY_FALSE_INIT,					\
	};

/* GNU ld drops the flags of sections that stay empty, and modpost then refuses the module. */
#define GKHI_KEEP_SECTION(name)							\
	asm(".pushsection " name ",\"a\",@progbits\n.balign 8\n.popsection");
GKHI_KEEP_SECTION("gkhi_sites")
GKHI_KEEP_SECTION("gkhi_events")

#endif

#define GKHI_DEFINE_MODULE(event)

#endif
