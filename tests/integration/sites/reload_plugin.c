// SPDX-License-Identifier: MIT
/* reload_plugin.c - a library with the same hooks as its host, loaded and unloaded while they are on. */
#include "sites_inline.h"

__attribute__((visibility("default"))) uint64_t plugin_work(uint64_t n)
{
	uint64_t sum = 0, i;

	for (i = 0; i < n; i++) {
		sum += sites_shared(PLUGIN_ID + i);	/* an event of the shared header */
		gkhi_sites_num(PLUGIN_ID, (int64_t)i);
		gkhi_sites_bare((int32_t)i, (const void *)0);
	}
	return sum;
}
