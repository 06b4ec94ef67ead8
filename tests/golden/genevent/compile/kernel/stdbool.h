/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* linux/types.h has bool. */
