/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* client.h - what opening a channel for a program's own bytes leaves for writing to it. */
#ifndef GKHI_CLIENT_H
#define GKHI_CLIENT_H

#include "internal.h"

#define GKHI_RAW_LAYOUT		0x9c2622e3bd939695ull

/* Id of gkhi:raw, given when the first channel was opened. */
extern uint32_t gkhi_raw_id;

#endif
