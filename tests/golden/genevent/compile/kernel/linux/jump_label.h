/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Sized as the kernel's. */
#ifndef _LINUX_JUMP_LABEL_H
#define _LINUX_JUMP_LABEL_H
struct static_key {
	int enabled;
	void *entries;
};
struct static_key_false {
	struct static_key key;
};
#endif
