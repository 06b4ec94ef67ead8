/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/module_user.h - how the hooks of an executable or a shared library reach
 * the runtime. Included by the descriptor sources that genevent writes; C11.
 *
 *   constructor   gkhi_module_add() is there: call it. It is not, and the
 *                 environment has GKHI: dlopen libgkhi.so.0 and try again.
 *                 Otherwise nothing happens, and no system call is made.
 *                 With GKHI_RUNTIME_LINKED (gkhi_add_provider() sets it when it
 *                 links the runtime) the reference is a strong one: it takes the
 *                 runtime out of an archive, and --as-needed keeps the library.
 *   destructor    gkhi_module_remove(), if the constructor added.
 *
 * Both run under the dynamic linker's lock, or before main() and after exit():
 * never beside each other for the same object.
 *
 * One executable or library has one struct gkhi_module, however many descriptor
 * sources are linked into it: the symbol is weak and hidden, the first
 * constructor adds it and the last destructor removes it.
 *
 * The bounds are weak: an object without any site, key or hook links too.
 */
#ifndef GKHI_MODULE_USER_H
#define GKHI_MODULE_USER_H

#include <gkhi/hook.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Woverlength-strings"
#else
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* An array element of the section: no more alignment than its type has. */
#define GKHI_EVENT __attribute__((section("gkhi_events"), used, aligned(8)))

/* The hooks themselves come with their sites. */
#define GKHI_INSTANCE(sym, event, lo, hi, words)
#define GKHI_INSTANCE_BARE(sym, event, lo, hi, words)

#ifdef GKHI_CONFIG_OFF

#define GKHI_DEFINE_MODULE(event)

#else

#include <stdio.h>
#include <stdlib.h>
#include <dlfcn.h>

#define GKHI_BOUND __attribute__((weak, visibility("hidden")))

extern const char __start_gkhi_sites[] GKHI_BOUND;
extern const char __stop_gkhi_sites[] GKHI_BOUND;
extern const char __start_gkhi_keys[] GKHI_BOUND;
extern const char __stop_gkhi_keys[] GKHI_BOUND;
extern char __start_gkhi_hooks[] GKHI_BOUND;
extern char __stop_gkhi_hooks[] GKHI_BOUND;
extern const char __start_gkhi_events[] GKHI_BOUND;
extern const char __stop_gkhi_events[] GKHI_BOUND;

GKHI_BOUND struct gkhi_module gkhi_this_module = {
	.abi = GKHI_ABI_VERSION,
	.sites_start = __start_gkhi_sites, .sites_stop = __stop_gkhi_sites,
	.keys_start = __start_gkhi_keys, .keys_stop = __stop_gkhi_keys,
	.hooks_start = __start_gkhi_hooks, .hooks_stop = __stop_gkhi_hooks,
	.events_start = __start_gkhi_events, .events_stop = __stop_gkhi_events,
};

typedef void (*gkhi_module_call)(struct gkhi_module *module);

GKHI_BOUND gkhi_module_call gkhi_this_module_remove;

#ifdef GKHI_RUNTIME_LINKED

extern void gkhi_module_add(struct gkhi_module *module);
extern void gkhi_module_remove(struct gkhi_module *module);

static inline void gkhi_module_find(gkhi_module_call *add, gkhi_module_call *remove)
{
	*add = gkhi_module_add;
	*remove = gkhi_module_remove;
}

#else

extern void gkhi_module_add(struct gkhi_module *module) __attribute__((weak));
extern void gkhi_module_remove(struct gkhi_module *module) __attribute__((weak));

/* Statically linked programs may have no dlopen(). */
extern void *dlopen(const char *file, int mode) __attribute__((weak));
extern void *dlsym(void *handle, const char *name) __attribute__((weak));
extern char *dlerror(void) __attribute__((weak));
extern char *secure_getenv(const char *name);

/* The runtime that is there already, or that nobody linked but somebody asked for. */
static inline void gkhi_module_find(gkhi_module_call *add, gkhi_module_call *remove)
{
	const char *why;
	void *library;

	*add = gkhi_module_add;
	*remove = gkhi_module_remove;
	if ((*add && *remove) || !secure_getenv("GKHI") || !dlopen || !dlsym || !dlerror)
		return;
	library = dlopen("libgkhi.so.0", RTLD_NOW | RTLD_NODELETE);
	if (library) {
		*(void **)add = dlsym(library, "gkhi_module_add");
		*(void **)remove = dlsym(library, "gkhi_module_remove");
	}
	if (*add && *remove)
		return;
	why = dlerror();
	fprintf(stderr, "gkhi: GKHI is set, hooks stay off: %s\n", why ? why : "libgkhi.so.0 is not a runtime");
}

#endif

static inline void gkhi_module_enter(const void *event)
{
	gkhi_module_call add, remove;

	/* Keeps this file's part of section gkhi_events under --gc-sections. */
	__asm__ __volatile__("" : : "r"(event));
	if (gkhi_this_module.users++)
		return;
	gkhi_module_find(&add, &remove);
	if (!add || !remove)
		return;
	gkhi_this_module_remove = remove;
	add(&gkhi_this_module);
}

static inline void gkhi_module_leave(void)
{
	if (!--gkhi_this_module.users && gkhi_this_module_remove)
		gkhi_this_module_remove(&gkhi_this_module);
}

#define GKHI_DEFINE_MODULE(event)						\
	static __attribute__((constructor)) void gkhi_constructor(void)	\
	{									\
		gkhi_module_enter(&event);					\
	}									\
	static __attribute__((destructor)) void gkhi_destructor(void)		\
	{									\
		gkhi_module_leave();						\
	}

#endif

#endif
