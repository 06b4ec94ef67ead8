// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * backends.c - the registry of backends: a new one is a folder and a line here.
 */
#include "backends.h"
#include "port.h"

static const struct gkhi_backend *const backends[] = {
	&gkhi_backend_ring,
	&gkhi_backend_printk,
};

const struct gkhi_backend *gkhi_backend_find(const char *name)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		if (!strcmp(backends[i]->name, name))
			return backends[i];
	}
	return NULL;
}
