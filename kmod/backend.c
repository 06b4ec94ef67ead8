// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend.c - the backends there are: modules that register a v-table.
 *
 * A channel holds its backend's module from open to close. So a module with
 * channels cannot be unloaded, and one that can has no stub in use but those that
 * static calls were left at.
 */
#include <linux/export.h>

#include "gkhi_core.h"

static LIST_HEAD(gkhi_kernel_backends);	/* control lock */

static struct gkhi_kernel_backend *gkhi_backend_of(const struct gkhi_channel *ch)
{
	return container_of(ch->backend, struct gkhi_kernel_backend, core);
}

static int gkhi_backend_open(struct gkhi_channel *ch)
{
	struct gkhi_kernel_backend *backend = gkhi_backend_of(ch);
	int err;

	if (!try_module_get(backend->owner))
		return -ENODEV;
	err = backend->ops->open(ch);
	if (err)
		module_put(backend->owner);
	else if (ch->route)
		ch->route->priv[GKHI_ROUTE_KIND] = backend;
	return err;
}

static void gkhi_backend_close(struct gkhi_channel *ch)
{
	struct gkhi_kernel_backend *backend = gkhi_backend_of(ch);

	backend->ops->close(ch);
	module_put(backend->owner);
}

const struct gkhi_backend *gkhi_backend_find(const char *name)
{
	struct gkhi_kernel_backend *backend;

	list_for_each_entry(backend, &gkhi_kernel_backends, list) {
		if (!strcmp(backend->ops->name, name))
			return &backend->core;
	}
	return NULL;
}

/**
 * gkhi_backend_register - make a kind of channel known
 * @backend: stays until gkhi_backend_unregister()
 *
 * Context: task, may sleep.
 * Return: 0, or -EEXIST: there is one of that name.
 */
int gkhi_backend_register(struct gkhi_kernel_backend *backend)
{
	int err = 0;

	port_control_lock();
	if (gkhi_backend_find(backend->ops->name)) {
		err = -EEXIST;
	} else {
		backend->core = *backend->ops;
		backend->core.open = gkhi_backend_open;
		backend->core.close = gkhi_backend_close;
		backend->core.flags |= GKHI_BACKEND_UNCOUNTED;
		list_add_tail(&backend->list, &gkhi_kernel_backends);
	}
	port_control_unlock();
	return err;
}
GKHI_EXPORT(gkhi_backend_register);

/**
 * gkhi_backend_unregister - take it back, in the module's exit function
 * @backend: has no channel, since channels hold the module
 *
 * Context: task, may sleep.
 */
void gkhi_backend_unregister(struct gkhi_kernel_backend *backend)
{
	port_control_lock();
	list_del(&backend->list);
	gkhi_stubs_forget(backend->owner);
	port_control_unlock();
}
GKHI_EXPORT(gkhi_backend_unregister);

/* The core's own, for backends and for clients without hooks. */
GKHI_EXPORT(gkhi_dispatch);
GKHI_EXPORT(gkhi_channel_open);
GKHI_EXPORT(gkhi_channel_close);
GKHI_EXPORT(gkhi_channel_reserve);
GKHI_EXPORT(gkhi_channel_commit);
GKHI_EXPORT(gkhi_channel_write);
GKHI_EXPORT(gkhi_exit_register);
GKHI_EXPORT(gkhi_exit_unregister);
GKHI_EXPORT(gkhi_exit_arm);
