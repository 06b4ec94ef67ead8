// SPDX-License-Identifier: MIT
/* host_plugin.c - a plugin with hooks; its host knows nothing of them. */
#include <stdint.h>

#include "gkhi_host.h"

__attribute__((visibility("default"))) void plugin_ticks(uint64_t first, int n);

void plugin_ticks(uint64_t first, int n)
{
	for (uint64_t seq = first; n--; seq++)
		gkhi_host_tick(seq, seq * 0x9e3779b97f4a7c15u);
}
