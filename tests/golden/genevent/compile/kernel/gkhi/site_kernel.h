/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What generated headers use of gkhi/site_kernel.h, with the meaning of user space: shows that their text compiles as
 * kernel C, without a libc.
 */
#define __always_inline inline __attribute__((__always_inline__))
#include "../../../../../../hooks/include/gkhi/site_user.h"
