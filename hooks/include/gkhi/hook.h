/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/hook.h - what a stub header written by genevent includes.
 *
 * The generated text is the same for C11, C++20 and the kernel; this file
 * chooses what its macros mean:
 *
 *   GKHI_CONFIG_OFF     hooks are configured out: no code, no data, arguments
 *                       are type-checked and not evaluated.
 *   __KERNEL__          gkhi/site_kernel.h: jump label, static call, kprobe pad.
 *   otherwise           gkhi/site_user.h: nop5 keys, thunk, pad. With
 *                       GKHI_NO_PATCHING the key is a load, test and branch.
 *
 * What generated code uses (each world defines all of them):
 *
 *   GKHI_DEFINE_HOOK(sym, event, lo, hi, words)
 *       once per event, at file scope: gkhi_armed_<sym>(), gkhi_to_pad_<sym>().
 *   GKHI_DEFINE_BARE(sym, event, lo, hi, words)
 *       the same for `states: [marker]`: no key, no call.
 *   GKHI_ENTER(), GKHI_LEAVE()
 *       brackets round the one load of the mode and what it decides.
 *   GKHI_PAD(sym, event, lo, hi, flags, nargs, args, operands...)
 *       the marker pad with its map record; args is a row of GKHI_ARG().
 *   GKHI_CALL<n>(sym, reads, w0, ..., wn-1), GKHI_CALL_FRAME(sym, reads, n, frame)
 *       hand the frame (see struct gkhi_event) to whatever is attached.
 *       reads is GKHI_NO_READS or a row of GKHI_READS(pointer).
 *   gkhi_follow(pointer)
 *       the pointer as the hook may see it: NULL-able and escaping.
 *   gkhi_count(pointer, n, max)
 *       elements to record behind it.
 */
#ifndef GKHI_HOOK_H
#define GKHI_HOOK_H

#include <gkhi/abi.h>

#if defined(GKHI_CONFIG_OFF)
/* Generated headers test GKHI_CONFIG_OFF themselves: nothing to define. */
#ifndef __KERNEL__
#include <stdbool.h>
#endif
#elif defined(__KERNEL__)
#include <gkhi/site_kernel.h>
#else
#include <gkhi/site_user.h>
#endif

#ifndef GKHI_CONFIG_OFF
/*
 * What a hook reads behind a pointer must be an input of its asm, or the
 * compiler may delete the stores to it; and the pointer must not pass for
 * dereferenced, or later tests for NULL may go. Hence laundered, then "m".
 */
GKHI_INLINE const void *gkhi_follow(const volatile void *p)
{
	__asm__("" : "+r"(p));
	return (const void *)p;
}

#ifdef __clang__
#define GKHI_READS(p)	, "m"(*(const char (*)[1 << 20])(p))	/* wants a size */
#else
#define GKHI_READS(p)	, "m"(*(const char (*)[])(p))		/* warns about one */
#endif
#define GKHI_NO_READS

GKHI_INLINE uint32_t gkhi_count(const volatile void *p, uint64_t n, uint32_t max)
{
	return !p ? 0 : n > max ? max : (uint32_t)n;
}
#endif

#endif
