/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/site_kernel.h - a hook site in a kernel module, x86-64.
 *
 *   hot path            the hook's static key: one nop -> jmp cold
 *   cold block                evaluate the arguments
 *                             preemption off
 *                             mode(hook) == PAD?               one load decides
 *                       call: frame on the stack, static call -> stub
 *                       pad:  nop5 with a map record; a kprobe when armed
 *                       out:  preemption on
 *
 * Nothing here is a symbol of gkhi.ko: the module loads without it. Patching is
 * the kernel's own, through the key, the static call and kprobes.
 *
 *  - preemption stays off from the load of the mode to the commit: so
 *    synchronize_rcu() is the grace period of every switch;
 *  - "nr", never "nor": clang spills every operand that may be memory;
 *  - the pad has its line of text to itself: a 2-cpu guest under TCG hung with a
 *    pad beside a static call that was patched at the same time.
 */
#ifndef GKHI_SITE_KERNEL_H
#define GKHI_SITE_KERNEL_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/objtool.h>
#include <linux/preempt.h>
#include <linux/static_call.h>
#include <linux/stringify.h>
#include <linux/types.h>

#ifndef CONFIG_X86_64
#error "gkhi: kernel hooks are for x86-64"
#endif

#define GKHI_INLINE static __always_inline __maybe_unused

typedef void (*gkhi_stub_fn)(struct gkhi_hook *hook, const u64 *frame);

/* The type of a static call, as DECLARE_STATIC_CALL() wants it. */
void gkhi_stub_type(struct gkhi_hook *hook, const u64 *frame);

#define GKHI_DEFINE_HOOK(sym, event, lo, hi, words)				\
	extern struct gkhi_hook gkhi_hook_##sym;				\
	DECLARE_STATIC_CALL(gkhi_call_##sym, gkhi_stub_type);			\
	GKHI_INLINE bool gkhi_armed_##sym(void)					\
	{									\
		return static_branch_unlikely(&gkhi_hook_##sym.key);		\
	}									\
	GKHI_INLINE bool gkhi_to_pad_##sym(void)				\
	{									\
		return READ_ONCE(gkhi_hook_##sym.mode) == GKHI_MODE_PAD;	\
	}

#define GKHI_DEFINE_BARE(sym, event, lo, hi, words)				\
	extern struct gkhi_hook gkhi_hook_##sym;				\
	GKHI_INLINE void gkhi_bare_##sym(void)					\
	{									\
	}

#define GKHI_ENTER()	preempt_disable_notrace()
#define GKHI_LEAVE()	preempt_enable_notrace()

/* One argument of a record: type letter, size, name, operand name. */
#define GKHI_ARG(type, size, name, operand)					\
	".byte '" type "'," #size "\n.asciz \"" name "\"\n"			\
	".asciz \"%[" #operand "]\"\n"

/* The same for one kept in memory at disp(operand). */
#define GKHI_ARG_AT(type, size, name, operand, disp)				\
	".byte '" type "'," #size "\n.asciz \"" name "\"\n"			\
	".asciz \"" #disp "(%[" #operand "])\"\n"

#define GKHI_PAD_RECORD(event, lo, hi, flags, nargs, args)			\
	".pushsection gkhi_sites,\"a\",@progbits\n"				\
	".balign 4\n991:\n"							\
	".2byte 0x6b47\n.byte 1," #flags "\n"					\
	".4byte 992f-991b\n.4byte " #lo "," #hi "\n.4byte 990b-.\n"		\
	".4byte " __stringify(__LINE__) "\n.byte 5," #nargs ",0,0\n"		\
	".asciz \"" event "\"\n.asciz \"\"\n.asciz \"" __FILE__ "\"\n"		\
	args ".balign 4\n992:\n.popsection\n"

/* The record's reference to a pad is none that an indirect branch could take. */
#define GKHI_PAD_NOP	ANNOTATE_NOENDBR "990: .byte 0x0f,0x1f,0x44,0x00,0x00\n"

#define GKHI_PAD_0	"jmp 993f\n.balign 64\n993:\n" GKHI_PAD_NOP "jmp 994f\n.balign 64\n994:\n"
#define GKHI_PAD_1	GKHI_PAD_NOP		/* bare: in the hot path, no call near it */

#define GKHI_PAD(sym, event, lo, hi, flags, nargs, args, ...)			\
	__asm__ __inline __volatile__(GKHI_PAD_##flags				\
		GKHI_PAD_RECORD(event, lo, hi, flags, nargs, args)		\
		: : __VA_ARGS__ : "cc")

/* The callee reads the frame and what its pointers lead to: it is a real call, which the compiler knows. */
#define GKHI_CALL_FRAME(sym, reads, n, frame)					\
	static_call_cond(gkhi_call_##sym)(&gkhi_hook_##sym, frame)

#define GKHI_CALL0(sym, reads)							\
	static_call_cond(gkhi_call_##sym)(&gkhi_hook_##sym, NULL)
#define GKHI_CALL_WORDS(sym, n, ...)						\
	do {									\
		const u64 gkhi_frame_[n] = { __VA_ARGS__ };			\
		GKHI_CALL_FRAME(sym, , n, gkhi_frame_);				\
	} while (0)
#define GKHI_CALL1(sym, reads, v0)						\
	GKHI_CALL_WORDS(sym, 1, (u64)(v0))
#define GKHI_CALL2(sym, reads, v0, v1)						\
	GKHI_CALL_WORDS(sym, 2, (u64)(v0), (u64)(v1))
#define GKHI_CALL3(sym, reads, v0, v1, v2)					\
	GKHI_CALL_WORDS(sym, 3, (u64)(v0), (u64)(v1), (u64)(v2))
#define GKHI_CALL4(sym, reads, v0, v1, v2, v3)					\
	GKHI_CALL_WORDS(sym, 4, (u64)(v0), (u64)(v1), (u64)(v2), (u64)(v3))

/* ------------------------------------------------------------ the module */

/*
 * struct gkhi_module - the hooks of one module. gkhi.ko makes it from the
 * module's symbols; the module does nothing.
 */
struct gkhi_module {
	uint32_t abi;			/* GKHI_ABI_VERSION */
	uint32_t users;
	const void *sites_start, *sites_stop;
	const void *keys_start, *keys_stop;
	void *hooks_start, *hooks_stop;
	const void *events_start, *events_stop;
	void *priv[4];			/* gkhi.ko's */
};

#endif
