// SPDX-License-Identifier: MIT
/*
 * fault.c - operands that could not be read, counted where `gkhi` looks: in the
 * hook's row of the control file, without a request. Event side: any context, no
 * libc, no vector registers; runs against a table that grows or is made.
 *
 * A row is made before its hook can be on. The table is mapped anew when it grows,
 * and what was mapped stays (control.c): both are the same memory.
 */
#include "core.h"
#include "process.h"

void port_hook_faulted(uint32_t slot, uint64_t n)
{
	struct gkhi_control_hook *row = PORT_LOAD_ACQUIRE(gkhi_process.hooks);

	if (slot && row)
		PORT_ADD(row[slot - 1].faults, n);
}
