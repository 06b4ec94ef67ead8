/* SPDX-License-Identifier: MIT */
/*
 * stubs.S - the code that cold blocks call: rcx = struct gkhi_hook; on the stack
 * saved rcx, return address, frame. Every register but rflags is preserved.
 *
 *   gkhi_stub_none           does nothing
 *   gkhi_stub_generic        gkhi_dispatch(hook, frame) in C, any event, any route
 *   gkhi_stub_fixed          tables by class and words: the restartable sequence of
 *   gkhi_stub_string         sequence.h, for events that are a fixed part alone, and
 *                            for those with one string behind it
 *   port_call_saving_vectors C that may use vector registers, from the event side
 *
 * All of it may run in any context in which user code runs. Stubs are never
 * unmapped. No unwind information: a stub is entered with red zone and frame
 * pushed by the site's asm, which the unwinder does not know of either.
 */
#include "sequence.h"

#define CLASS_COMPACT	0
#define CLASS_WIDE	1
#define CLASS_NOCLOCK	2

	.text

	.macro STUB name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 6
\name:
	endbr64
	.endm

	STUB	gkhi_stub_none
	popq	%rcx
	ret
	.size	gkhi_stub_none, .-gkhi_stub_none

	/*
	 * What C may clobber is saved; the frame starts behind the saved rcx and the
	 * return address. The direction flag is part of the ABI: site code has it clear.
	 */
	STUB	gkhi_stub_generic
	pushq	%rax
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rcx, %rdi
	leaq	(9 + 2) * 8(%rsp), %rsi
	andq	$-16, %rsp
	call	gkhi_dispatch
	movq	%rbp, %rsp
	popq	%rbp
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rax
	popq	%rcx
	ret
	.size	gkhi_stub_generic, .-gkhi_stub_generic

	/* -------------------------------------------------- fixed part alone */

	/* Bytes ahead: the line that is written next but a few. */
	.set	PREFETCH, 256
	.set	FRAME, (4 + 2) * 8	/* from rsp, inside: rax rdx rsi rdi, rcx, return address */

	.macro ENTER
	pushq	%rax
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	movq	gkhi_rseq_offset(%rip), %rdi
	leaq	93f(%rip), %rax
#ifndef GKHI_TEST_UNARMED			/* the stress test's negative control */
	movq	%rax, %fs:SEQ_RSEQ_CS(%rdi)
#endif
	.endm

	/* rsi = this cpu's stream, rdi = its commit word, rdx:rax = the time */
	.macro FIND class
	movq	SEQ_HOOK_ROUTE(%rcx), %rsi
	movl	%fs:SEQ_RSEQ_CPU(%rdi), %edi
	cmpl	4 * \class(%rsi), %edi
	jae	97f
	movq	SEQ_ROUTE_CPU(%rsi,%rdi,8), %rsi
	.if \class != CLASS_NOCLOCK
	rdtsc
	.endif
	movq	SEQ_RC_COMMIT(%rsi), %rdi
	.endm

	/* rax = the first header word */
	.macro HEAD class
	.if \class == CLASS_NOCLOCK
	cmpl	$0, SEQ_RC_DEADLINE(%rsi)	/* 0: asked to close the packet */
	je	97f
	.else
	cmpl	%edx, SEQ_RC_DEADLINE(%rsi)
	jbe	97f
	.endif
	.if \class == CLASS_COMPACT
	shlq	$48, %rdx
	shlq	$16, %rax
	orq	%rdx, %rax
	orq	SEQ_HOOK_HEADER(%rcx), %rax
	.elseif \class == CLASS_WIDE
	shlq	$32, %rdx
	orq	%rdx, %rax
	.else
	movq	SEQ_HOOK_HEADER(%rcx), %rax
	.endif
	.endm

	/* rdi = the next commit word, rdx = its offset; or the slow way */
	.macro TAKE class
	movl	%edi, %edx
	addq	SEQ_HOOK_STEP(%rcx), %rdi
	.if \class == CLASS_WIDE
	addq	$8, %rdi
	.endif
	xorl	%edi, %edx
	cmpl	SEQ_RC_SUBBUF(%rsi), %edx
	jae	97f
	movl	%edi, %edx
	.endm

	.macro LEAVE
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rax
	.endm

	/* Header and fixed part of `words` words, ending at the offset in rdx. */
	.macro RECORD class, frame
	.set	disp, SEQ_RC_DATA - 8 * words
	.if \class == CLASS_WIDE
	movq	%rax, disp - 8(%rsi,%rdx)
	movq	gkhi_tid@gottpoff(%rip), %rax
	movl	%fs:(%rax), %eax
	testl	%eax, %eax
	jz	97f			/* the slow path finds it out */
	shlq	$32, %rax
	orq	SEQ_HOOK_HEADER(%rcx), %rax
	.endif
	movq	%rax, disp(%rsi,%rdx)
	.set	i, 0
	.rept	words
	movq	\frame + 8 * i(%rsp), %rax
	movq	%rax, disp + 8 + 8 * i(%rsi,%rdx)
	.set	i, i + 1
	.endr
	.endm

	/* Behind 92: of a stub. */
	.macro COUNT
	movzwl	SEQ_HOOK_COUNTER(%rcx), %eax
	incq	SEQ_RC_HITS(%rsi,%rax,8)
	.endm

	/* Descriptor and abort handler of the sequence 91..92; the stub at 90 goes to @table. */
	.macro SEQUENCE table
	.pushsection __rseq_failure, "ax", @progbits
	.byte	0x0f, 0xb9, 0x3d	/* ud1 SIG(%rip), %edi: the signature disassembles */
	.long	SEQ_RSEQ_SIG
94:	jmp	97b
	.popsection
	.pushsection .data.rel.ro, "aw", @progbits
	.balign	32
93:	.long	0, 0
	.quad	91b, 92b - 91b, 94b
	.popsection
	.pushsection .data.rel.ro.\table, "aw", @progbits
	.quad	90b
	.popsection
	.endm

	.macro TABLE name, section
	.pushsection .data.rel.ro.\section, "aw", @progbits
	.balign	8
	.globl	\name
	.hidden	\name
	.type	\name, @object
\name:
	.popsection
	.endm

	.macro FIXED class
	.p2align 6
90:	endbr64
	ENTER
91:	FIND	\class
	HEAD	\class
	TAKE	\class
	prefetchw SEQ_RC_DATA + PREFETCH(%rsi,%rdx)
	RECORD	\class, FRAME
	movq	%rdi, SEQ_RC_COMMIT(%rsi)
92:	COUNT
	LEAVE
	popq	%rcx
	ret
97:	LEAVE
	jmp	gkhi_stub_generic
	SEQUENCE gkhi_fixed
	.endm

	TABLE	gkhi_stub_fixed, gkhi_fixed
	.irp	class, CLASS_COMPACT, CLASS_WIDE, CLASS_NOCLOCK
	.set	words, 0
	.rept	GKHI_STUB_WORDS + 1
	FIXED	\class
	.set	words, words + 1
	.endr
	.endr

	/* --------------------------------------- fixed part and one string */

	/*
	 * The string is measured and copied at once, 16 bytes at a time, each byte read
	 * once: whoever changes it meanwhile makes it shorter or longer, not torn. What
	 * needs more than the hook's string_words, or comes near the end of its page,
	 * goes the slow path. The two vector registers are kept in the red zone below
	 * rsp, which the kernel leaves alone and nobody here calls anything.
	 */
	.macro SAVE_MORE
	pushq	%r8
	pushq	%r9
	pushq	%r10
	movdqu	%xmm0, -16(%rsp)
	movdqu	%xmm1, -32(%rsp)
	.endm

	.macro RESTORE_MORE
	movdqu	-16(%rsp), %xmm0
	movdqu	-32(%rsp), %xmm1
	popq	%r10
	popq	%r9
	popq	%r8
	.endm

	/* rdi = the commit word with the fixed part; r8 = words for the string, one to spare */
	.macro TAKE_MOST class
	movl	%edi, %edx
	addq	SEQ_HOOK_STEP(%rcx), %rdi
	.if \class == CLASS_WIDE
	addq	$8, %rdi
	.endif
	movzbl	SEQ_HOOK_STRING(%rcx), %r8d
	leal	8(%rdi,%r8,8), %r9d
	xorl	%r9d, %edx
	cmpl	SEQ_RC_SUBBUF(%rsi), %edx
	jae	97f
	movl	%edi, %edx
	.endm

	.macro STRING class
	.p2align 6
90:	endbr64
	ENTER
	SAVE_MORE
91:	FIND	\class
	HEAD	\class
	TAKE_MOST \class
	prefetchw SEQ_RC_DATA + PREFETCH(%rsi,%rdx)
	RECORD	\class, FRAME + 24
	leaq	SEQ_RC_DATA + 8(%rsi,%rdx), %r9
	movq	FRAME + 24 + 8 * words(%rsp), %rax
	testq	%rax, %rax
	jz	97f
95:	movl	%eax, %edx
	andl	$4095, %edx
	cmpl	$4096 - 16, %edx
	ja	97f
	movdqu	(%rax), %xmm0
	pxor	%xmm1, %xmm1
	pcmpeqb	%xmm0, %xmm1
	pmovmskb %xmm1, %edx
	testl	%edx, %edx
	jnz	96f
	subl	$2, %r8d		/* 16 bytes without a NUL; room for it must be left */
	jbe	97f
	movdqu	%xmm0, (%r9)
	addq	$16, %r9
	addq	$16, %rdi
	addq	$16, %rax
	jmp	95b
96:	bsfl	%edx, %edx
	leaq	gkhi_string_mask + 16(%rip), %r10
	subq	%rdx, %r10
	movdqu	(%r10), %xmm1
	pand	%xmm1, %xmm0		/* nothing of what lies behind the NUL */
	shrl	$3, %edx
	cmpl	%r8d, %edx
	jae	97f
	movdqu	%xmm0, (%r9)
	leaq	8(%rdi,%rdx,8), %rdi
	movq	%rdi, SEQ_RC_COMMIT(%rsi)
92:	COUNT
	RESTORE_MORE
	LEAVE
	popq	%rcx
	ret
97:	RESTORE_MORE
	LEAVE
	jmp	gkhi_stub_generic
	SEQUENCE gkhi_string
	.endm

	TABLE	gkhi_stub_string, gkhi_string
	.irp	class, CLASS_COMPACT, CLASS_WIDE, CLASS_NOCLOCK
	.set	words, 0
	.rept	GKHI_STUB_STRING_WORDS + 1
	STRING	\class
	.set	words, words + 1
	.endr
	.endr

	.section .rodata
	.balign	32
gkhi_string_mask:			/* 16 bytes from +16 - n: n of ff, then 00 */
	.quad	-1, -1, 0, 0
	.text

	/* ------------------------------------------------- vector registers */
	/*
	 * void port_call_saving_vectors(void (*fn)(void *, void *), void *a, void *b)
	 * x87, SSE, AVX and AVX-512 state goes to the stack; where xsave is missing,
	 * what fxsave holds is all there is.
	 */
	.globl	port_call_saving_vectors
	.hidden	port_call_saving_vectors
	.type	port_call_saving_vectors, @function
	.p2align 4
port_call_saving_vectors:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	pushq	%r12
	movq	%rdi, %r12
	movl	gkhi_xsave_size(%rip), %eax
	subq	%rax, %rsp
	andq	$-64, %rsp
	movq	%rsp, %rbx
	movl	gkhi_xsave_mask(%rip), %eax
	testl	%eax, %eax
	jz	1f
	/* The header must be zero: xsave writes only a part of it. */
	xorl	%ecx, %ecx
	movq	%rcx, 512(%rbx)
	movq	%rcx, 520(%rbx)
	movq	%rcx, 528(%rbx)
	movq	%rcx, 536(%rbx)
	movq	%rcx, 544(%rbx)
	movq	%rcx, 552(%rbx)
	movq	%rcx, 560(%rbx)
	movq	%rcx, 568(%rbx)
	movq	%rdx, %rcx
	xorl	%edx, %edx
	xsave64	(%rbx)
	jmp	2f
1:	fxsave64 (%rbx)
	movq	%rdx, %rcx
2:	movq	%r12, %rdi
	movq	%rcx, %rdx
	call	gkhi_call_keeping_errno
	movl	gkhi_xsave_mask(%rip), %eax
	xorl	%edx, %edx
	testl	%eax, %eax
	jz	1f
	xrstor64 (%rbx)
	jmp	2f
1:	fxrstor64 (%rbx)
2:	leaq	-16(%rbp), %rsp
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.size	port_call_saving_vectors, .-port_call_saving_vectors

	.section .note.GNU-stack, "", @progbits
