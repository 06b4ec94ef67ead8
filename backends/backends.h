/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * backends.h - every backend there is; one line each, here and in backends.c.
 */
#ifndef GKHI_BACKENDS_H
#define GKHI_BACKENDS_H

#include <gkhi/channel.h>

extern const struct gkhi_backend gkhi_backend_ring;
extern const struct gkhi_backend gkhi_backend_printk;

#endif
