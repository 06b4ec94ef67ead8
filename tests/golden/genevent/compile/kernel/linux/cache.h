/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#define __aligned(x) __attribute__((__aligned__(x)))
#define __percpu
