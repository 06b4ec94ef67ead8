// SPDX-License-Identifier: MIT
/*
 * module.c - objects with hooks, as their constructors and destructors hand them
 * in. Until somebody traces they are only linked: no system call, no memory.
 *
 *   call                      context                          may run against
 *   gkhi_module_add, _remove  constructors and destructors, T  everything
 *   gkhi_modules_start,       control lock held                everything
 *   port_start
 *
 * gkhi_module.priv: [0] the next one, [1] not NULL: the core has it, [2] the
 * object's path, [3] where it was loaded.
 */
#include "module.h"

#include <link.h>
#include <stdlib.h>

#include <gkhi/gkhi.h>
#include <gkhi/hook.h>

#include "core.h"
#include "process.h"
#include "symbol.h"
#include "sys.h"

static struct gkhi_module *modules;	/* newest first; control lock */
static bool live;
static bool exiting;			/* exit() runs: nothing goes away any more */

/* ------------------------------------------------------------------- its path */

struct path_search {
	uintptr_t address;
	const char *path;
	uintptr_t bias;
};

static int find_path(struct dl_phdr_info *info, size_t size, void *data)
{
	struct path_search *search = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && search->address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) {
			search->path = info->dlpi_name;
			search->bias = info->dlpi_addr;
			return 1;
		}
	}
	return 0;
}

/* Here and not later: the loader's lock is this thread's now, and may be a stopped thread's then. */
static void remember_path(struct gkhi_module *module)
{
	struct path_search search = { .address = (uintptr_t)module, .path = "" };

	dl_iterate_phdr(find_path, &search);
	module->priv[2] = (void *)search.path;
	module->priv[3] = (void *)search.bias;
}

const char *port_module_name(const struct gkhi_module *module)
{
	const char *path = module->priv[2];

	return path && *path ? path : program_invocation_name;
}

const char *port_site_function(const struct gkhi_record *record, const void *code)
{
	const char *said = (const char *)(record + 1);
	const char *path;

	said += strlen(said) + 1;
	if (*said)
		return said;	/* the pass knows; a macro does not */
	for (const struct gkhi_module *m = modules; m; m = m->priv[0]) {
		if ((const void *)record < m->sites_start || (const void *)record >= m->sites_stop)
			continue;
		path = m->priv[2];
		return gkhi_symbol_of(*path ? path : "/proc/self/exe", (uintptr_t)m->priv[3], (uintptr_t)code);
	}
	return "";
}

void port_site_functions_done(void)
{
	gkhi_symbol_forget();
}

/* ------------------------------------------------------------------------- start */

static int hand_over(struct gkhi_module *module)
{
	int err;

	if (module->priv[1])
		return 0;
	err = gkhi_core_add(module);
	if (err == -EPROTO)
		port_log("an object was built for another version of gkhi: its hooks stay off");
	else if (err)
		port_log("out of memory: some hooks stay off");
	else
		module->priv[1] = module;
	return err;
}

/* Oldest first, so that ids are given in the order of loading. */
static void hand_over_all(void)
{
	struct gkhi_module *stop = NULL, *m;

	while (stop != modules) {
		for (m = modules; m->priv[0] != stop; m = m->priv[0])
			;
		hand_over(m);
		stop = m;
	}
}

int gkhi_modules_start(const char **why)
{
	int err;

	if (live)
		return 0;
	err = port_prepare(why);
	if (err)
		return err;
	live = true;
	hand_over_all();
	return 0;
}

bool gkhi_modules_live(void)
{
	return live;
}

int port_start(const char **why)
{
	int err = gkhi_process_open();

	if (err) {
		*why = gkhi_process.why;
		return err;
	}
	return gkhi_modules_start(why);
}

/* ----------------------------------------------------------------- add and remove */

static void note_exit(void)
{
	exiting = true;
}

/* exit() calls this before the destructors of objects; dlclose() does not call it. */
static void expect_exit(void)
{
	static bool done;

	if (!done)
		atexit(note_exit);
	done = true;
}

static void link_in(struct gkhi_module *module)
{
	module->priv[0] = modules;
	module->priv[1] = NULL;
	remember_path(module);
	gkhi_vfork_bind();
	modules = module;
	expect_exit();
	if (live)
		hand_over(module);
}

void gkhi_module_add(struct gkhi_module *module)
{
	bool tracing = PORT_READ_ONCE(live);	/* nobody traces: no system call */
	uint64_t signals;

	if (tracing)
		sys_block_signals(&signals);
	port_control_lock();
	link_in(module);
	port_control_unlock();
	if (tracing)
		sys_restore_signals(&signals);
	else
		gkhi_process_module_added();
}

static void link_out(struct gkhi_module *module)
{
	struct gkhi_module *m;

	if (modules == module)
		modules = module->priv[0];
	for (m = modules; m; m = m->priv[0]) {
		if (m->priv[0] == module)
			m->priv[0] = module->priv[0];
	}
	if (module->priv[1])
		gkhi_core_remove(module);
}

void gkhi_module_remove(struct gkhi_module *module)
{
	uint64_t signals;

	/* other threads and other destructors may fire still: everything stays as it is */
	if (exiting)
		return;
	sys_block_signals(&signals);
	port_control_lock();
	link_out(module);
	port_control_unlock();
	sys_restore_signals(&signals);
}
