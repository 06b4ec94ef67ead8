/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * port.h - all that hooks/ and backends/ know of the world they run in.
 * Implemented by userspace/runtime/port_posix.h and kmod/port_linux.h.
 */
#ifndef GKHI_PORT_H
#define GKHI_PORT_H

#ifdef __KERNEL__
#include "../kmod/port_linux.h"
#else
#include "../userspace/runtime/port_posix.h"
#endif

#endif
