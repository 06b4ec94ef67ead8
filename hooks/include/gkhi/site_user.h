/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/site_user.h - a hook site in a user-space program, x86-64, gcc >= 9 and
 * clang >= 14, C11 and C++20.
 *
 *   hot path            key:  nop5          -> jmp cold        (one 8-byte store)
 *   cold block                evaluate the arguments
 *                             cmpl $PAD, mode(hook)            one load decides
 *                             je   pad
 *                       call: skip the red zone, push the frame,
 *                             call thunk -> hook->stub; restore
 *                             jmp  out
 *                       pad:  nop5          -> jmp detour
 *                       out:
 *
 * Why like this (FACTS of the prototypes, repeated in docs/design.md):
 *  - the pushes and the register-preserving stub keep a leaf function a leaf:
 *    a C call in the cold block costs callee-saved pushes in the hot prologue;
 *  - .p2align 3,,4 keeps five bytes inside eight, so that one aligned 8-byte
 *    store switches a key or a pad;
 *  - "nr", never "nor": clang spills every operand that may be memory;
 *  - section flag "o" with a label: --gc-sections keeps the records of kept
 *    code and drops those of dropped code; "?" puts them in its COMDAT group;
 *  - a record keeps its hook by a relocation that does nothing: lld drops what
 *    only __start_gkhi_hooks names, and no code names the hook of a bare marker;
 *  - the hook is emitted from assembler in a COMDAT group: "i" operands for
 *    static objects are illegal under -fPIC and LTO.
 */
#ifndef GKHI_SITE_USER_H
#define GKHI_SITE_USER_H

#ifdef __GNUC__
#pragma GCC system_header
#endif

#if !defined(__x86_64__) && !defined(GKHI_NO_PATCHING)
#error "gkhi: code patching is for x86-64; build with GKHI_NO_PATCHING"
#endif

#include <stdbool.h>

#define GKHI_STR1(x) #x
#define GKHI_STR(x) GKHI_STR1(x)

#define GKHI_INLINE static inline __attribute__((always_inline, unused))

#ifdef __clang__
#define GKHI_COLD_LABEL
#else
#define GKHI_COLD_LABEL __attribute__((cold));
#endif

/* Both assembler dialects: -masm=intel changes inline assembler too. */
#define GKHI_ASM(att, intel) "{" att "|" intel "}"

#define GKHI_NOP5 ".byte 0x0f,0x1f,0x44,0x00,0x00\n"
#define GKHI_ALIGN5 ".p2align 3,,4\n"

/* The hook and its thunk; the offsets are those of struct gkhi_hook. */
#define GKHI_ASM_HOOK(sym, event, lo, hi, words, flags)				\
	".ifndef gkhi_hook_" #sym "\n"						\
	".pushsection gkhi_hooks,\"awG\",@progbits,gkhi_hook_" #sym ",comdat\n"	\
	".balign 64\n"								\
	".weak gkhi_hook_" #sym "\n"						\
	".hidden gkhi_hook_" #sym "\n"						\
	".type gkhi_hook_" #sym ",@object\n"					\
	".size gkhi_hook_" #sym ",64\n"						\
	"gkhi_hook_" #sym ":\n"							\
	".8byte 0,0,0\n.4byte 0,0\n"						\
	".4byte 993f-.\n.2byte " #words "," #flags "\n"				\
	".4byte " #lo "," #hi "\n.8byte 0,0\n"					\
	".popsection\n"								\
	".pushsection .rodata.gkhi_name,\"aG\",@progbits,gkhi_hook_" #sym ",comdat\n" \
	"993: .asciz \"" event "\"\n"						\
	".popsection\n"								\
	".pushsection .text.gkhi_thunk,\"axG\",@progbits,gkhi_hook_" #sym ",comdat\n" \
	".weak gkhi_thunk_" #sym "\n"						\
	".hidden gkhi_thunk_" #sym "\n"						\
	".type gkhi_thunk_" #sym ",@function\n"					\
	"gkhi_thunk_" #sym ":\n"						\
	GKHI_ASM("pushq %%rcx", "push rcx") "\n"				\
	GKHI_ASM("leaq gkhi_hook_" #sym "(%%rip),%%rcx",			\
		 "lea rcx,[rip+gkhi_hook_" #sym "]") "\n"			\
	GKHI_ASM("jmpq *(%%rcx)", "jmp qword ptr [rcx]") "\n"			\
	".size gkhi_thunk_" #sym ",.-gkhi_thunk_" #sym "\n"			\
	".popsection\n"								\
	".endif\n"

#ifndef GKHI_NO_PATCHING

#define GKHI_DEFINE_ARMED(sym, event, lo, hi, words)				\
	GKHI_INLINE bool gkhi_armed_##sym(void)					\
	{									\
		__asm__ goto(							\
			GKHI_ASM_HOOK(sym, event, lo, hi, words, 0)		\
			GKHI_ALIGN5						\
			".Lgkhi_key%=:\n990:\n" GKHI_NOP5			\
			".pushsection gkhi_keys,\"ao?\",@progbits,.Lgkhi_key%=\n" \
			".balign 4\n"						\
			".4byte 990b-.\n.4byte %l[gkhi_on]-.\n"			\
			".4byte gkhi_hook_" #sym "-.\n.4byte 0\n"		\
			".popsection\n"						\
			: : : : gkhi_on);					\
		return false;							\
	gkhi_on: GKHI_COLD_LABEL						\
		return true;							\
	}

#define GKHI_DEFINE_TO_PAD(sym)							\
	GKHI_INLINE bool gkhi_to_pad_##sym(void)				\
	{									\
		__asm__ goto(GKHI_ASM("cmpl $2,gkhi_hook_" #sym "+28(%%rip)",	\
				      "cmp dword ptr [rip+gkhi_hook_" #sym "+28],2") "\n" \
			     "je %l[gkhi_pad]\n"				\
			     : : : "cc", "memory" : gkhi_pad);			\
		return false;							\
	gkhi_pad:								\
		return true;							\
	}

#else /* GKHI_NO_PATCHING */

/*
 * Load, test, branch. There is no pad to patch: the stub serves both states. What
 * is left of the pad is its record, which says where the site is.
 */
#define GKHI_DEFINE_ARMED(sym, event, lo, hi, words)				\
	GKHI_INLINE bool gkhi_armed_##sym(void)					\
	{									\
		uint32_t gkhi_mode;						\
		__asm__ volatile(						\
			GKHI_ASM_HOOK(sym, event, lo, hi, words, 2)		\
			GKHI_ASM("movl gkhi_hook_" #sym "+28(%%rip),%0",	\
				 "mov %0,dword ptr [rip+gkhi_hook_" #sym "+28]") "\n" \
			: "=r"(gkhi_mode));					\
		return __builtin_expect(gkhi_mode != 0, 0);			\
	}

/* Never; but the compiler must not know, or the record goes. */
#define GKHI_DEFINE_TO_PAD(sym)							\
	GKHI_INLINE bool gkhi_to_pad_##sym(void)				\
	{									\
		__asm__ goto("" : : : : gkhi_pad);				\
		return false;							\
	gkhi_pad:								\
		return true;							\
	}

#endif

#define GKHI_DEFINE_HOOK(sym, event, lo, hi, words)				\
	GKHI_DEFINE_ARMED(sym, event, lo, hi, words)				\
	GKHI_DEFINE_TO_PAD(sym)

/* A bare marker: its hook is emitted beside every pad (GKHI_PAD, flags 1). */
#define GKHI_DEFINE_BARE(sym, event, lo, hi, words)				\
	GKHI_INLINE void gkhi_bare_##sym(void)					\
	{									\
		__asm__ volatile(GKHI_ASM_HOOK(sym, event, lo, hi, words, 1) : : ); \
	}

#define GKHI_ENTER() do { } while (0)
#define GKHI_LEAVE() do { } while (0)

/* One argument of a record: type letter, size, name, operand name. */
#define GKHI_ARG(type, size, name, operand)					\
	".byte '" type "'," #size "\n.asciz \"" name "\"\n"			\
	".asciz \"%[" #operand "]\"\n"

/* The same for one kept in memory at disp(operand). */
#define GKHI_ARG_AT(type, size, name, operand, disp)				\
	".byte '" type "'," #size "\n.asciz \"" name "\"\n"			\
	".asciz \"" #disp "(%[" #operand "])\"\n"

/* The record of the place @nop, so many bytes of it to be patched. */
#define GKHI_ASM_RECORD(sym, event, lo, hi, flags, nop, padlen, nargs, args)	\
	".Lgkhi_pad%=:\n990:\n" nop						\
	".pushsection gkhi_sites,\"ao?\",@progbits,.Lgkhi_pad%=\n"		\
	".balign 4\n991:\n.reloc .,BFD_RELOC_NONE,gkhi_hook_" #sym "\n"	\
	".2byte 0x6b47\n.byte 1," #flags "\n"					\
	".4byte 992f-991b\n.4byte " #lo "," #hi "\n.4byte 990b-.\n"		\
	".4byte " GKHI_STR(__LINE__) "\n.byte " #padlen "," #nargs ",0,0\n"	\
	".asciz \"" event "\"\n.asciz \"\"\n.asciz \"" __FILE__ "\"\n"	\
	args ".balign 4\n992:\n.popsection\n"

#ifndef GKHI_NO_PATCHING
#define GKHI_PAD(sym, event, lo, hi, flags, nargs, args, ...)			\
	__asm__ __inline __volatile__(						\
		GKHI_ALIGN5							\
		GKHI_ASM_RECORD(sym, event, lo, hi, flags, GKHI_NOP5, 5, nargs, args) \
		: : __VA_ARGS__ : "cc")
#else
#define GKHI_PAD(sym, event, lo, hi, flags, nargs, args, ...)			\
	__asm__ __inline __volatile__(						\
		GKHI_ASM_RECORD(sym, event, lo, hi, 0, "", 0, 0, "")		\
		: : __VA_ARGS__)
#endif

#define GKHI_CALL_BEGIN GKHI_ASM("leaq -128(%%rsp),%%rsp", "lea rsp,[rsp-128]") "\n"
#define GKHI_CALL_END(sym, n)							\
	"call gkhi_thunk_" #sym "\n"						\
	GKHI_ASM("leaq 128+8*" #n "(%%rsp),%%rsp", "lea rsp,[rsp+128+8*" #n "]") "\n"
#define GKHI_PUSH(operand) GKHI_ASM("pushq %" #operand, "push %" #operand) "\n"
#define GKHI_WORD(v) "er"((uint64_t)(v))

#define GKHI_CALL0(sym, reads)							\
	__asm__ __inline __volatile__(GKHI_CALL_BEGIN GKHI_CALL_END(sym, 0)	\
		: : "i"(0) reads : "cc")
#define GKHI_CALL1(sym, reads, v0)						\
	__asm__ __inline __volatile__(GKHI_CALL_BEGIN				\
		GKHI_PUSH(0) GKHI_CALL_END(sym, 1)				\
		: : GKHI_WORD(v0) reads : "cc")
#define GKHI_CALL2(sym, reads, v0, v1)						\
	__asm__ __inline __volatile__(GKHI_CALL_BEGIN				\
		GKHI_PUSH(1) GKHI_PUSH(0) GKHI_CALL_END(sym, 2)			\
		: : GKHI_WORD(v0), GKHI_WORD(v1) reads : "cc")
#define GKHI_CALL3(sym, reads, v0, v1, v2)					\
	__asm__ __inline __volatile__(GKHI_CALL_BEGIN				\
		GKHI_PUSH(2) GKHI_PUSH(1) GKHI_PUSH(0) GKHI_CALL_END(sym, 3)	\
		: : GKHI_WORD(v0), GKHI_WORD(v1), GKHI_WORD(v2) reads : "cc")
#define GKHI_CALL4(sym, reads, v0, v1, v2, v3)					\
	__asm__ __inline __volatile__(GKHI_CALL_BEGIN				\
		GKHI_PUSH(3) GKHI_PUSH(2) GKHI_PUSH(1) GKHI_PUSH(0) GKHI_CALL_END(sym, 4) \
		: : GKHI_WORD(v0), GKHI_WORD(v1), GKHI_WORD(v2), GKHI_WORD(v3)	\
		reads : "cc")

/* Five words and more: from a frame in memory, so that registers suffice. */
#define GKHI_CALL_FRAME(sym, reads, n, frame)					\
	__asm__ __inline __volatile__(GKHI_CALL_BEGIN				\
		".set .Lgkhi_i,8*" #n "\n.rept " #n "\n"			\
		".set .Lgkhi_i,.Lgkhi_i-8\n"					\
		GKHI_ASM("pushq .Lgkhi_i(%[gkhi_f])", "push qword ptr [%[gkhi_f]+.Lgkhi_i]") \
		"\n.endr\n"							\
		GKHI_CALL_END(sym, n)						\
		: : [gkhi_f] "r"(frame), "m"(*(const uint64_t (*)[n])(frame))	\
		reads : "cc")

/* ------------------------------------------------------------ the module */

/*
 * struct gkhi_module - the hooks of one ELF object (executable or library).
 * gkhi/module_user.h defines it, once per object, and hands it to the runtime
 * when the object is loaded.
 */
struct gkhi_module {
	uint32_t abi;			/* GKHI_ABI_VERSION */
	uint32_t users;			/* descriptor sources that added it */
	const void *sites_start, *sites_stop;
	const void *keys_start, *keys_stop;
	void *hooks_start, *hooks_stop;
	const void *events_start, *events_stop;
	void *priv[4];			/* the runtime's own */
};

#endif
