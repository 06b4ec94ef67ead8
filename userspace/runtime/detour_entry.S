/* SPDX-License-Identifier: MIT */
/*
 * detour_entry.S - from a detour to gkhi_detour_run() and back.
 *
 * Reached by a call from generated code, with
 *
 *   rax = struct detour          rsp -> return address
 *                                       flags (lahf, seto; detour_code.c)
 *                                       rax of the program
 *                                       red zone, 128 bytes
 *
 * Everything but rax and rflags is as it was when it returns; generated code puts
 * those two back.
 */
#include "detour.h"

#define ABOVE_RBP	(8 + 8 + 8 + 8 + DETOUR_RED_ZONE)	/* rsp of the program - rbp here */

	.text
	.globl gkhi_detour_common
	.hidden gkhi_detour_common
	.type gkhi_detour_common,@function
	.p2align 4
gkhi_detour_common:
	.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp,0
	movq %rsp,%rbp
	.cfi_def_cfa_register %rbp
	leaq -DETOUR_CONTEXT_BYTES(%rsp),%rsp
	andq $-64,%rsp
	movq %rcx,8(%rsp)
	movq %rdx,16(%rsp)
	movq %rbx,24(%rsp)
	movq %rsi,48(%rsp)
	movq %rdi,56(%rsp)
	movq %r8,64(%rsp)
	movq %r9,72(%rsp)
	movq %r10,80(%rsp)
	movq %r11,88(%rsp)
	movq %r12,96(%rsp)
	movq %r13,104(%rsp)
	movq %r14,112(%rsp)
	movq %r15,120(%rsp)
	movq 24(%rbp),%rcx		/* rax */
	movq %rcx,0(%rsp)
	movq 0(%rbp),%rcx		/* rbp */
	movq %rcx,40(%rsp)
	leaq ABOVE_RBP(%rbp),%rcx	/* rsp */
	movq %rcx,32(%rsp)
	testl $DETOUR_F_XMM,DETOUR_FLAGS(%rax)
	jnz 2f
1:	movq %rax,%rdi
	movq %rsp,%rsi
	movl DETOUR_FRAME_BYTES(%rax),%ecx
	subq %rcx,%rsp
	movq %rsp,%rdx
	movq %rsi,%rbx
	cld
	call gkhi_detour_run
	movq %rbx,%rsp
	movq 8(%rsp),%rcx
	movq 16(%rsp),%rdx
	movq 24(%rsp),%rbx
	movq 48(%rsp),%rsi
	movq 56(%rsp),%rdi
	movq 64(%rsp),%r8
	movq 72(%rsp),%r9
	movq 80(%rsp),%r10
	movq 88(%rsp),%r11
	movq %rbp,%rsp
	popq %rbp
	.cfi_def_cfa %rsp,8
	ret

	/* Only read: the C code behind uses general registers alone. */
2:	.cfi_def_cfa %rbp,16
	.irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movq %xmm\n,DETOUR_REGS_XMM+8*\n(%rsp)
	.endr
	jmp 1b
	.cfi_endproc
	.size gkhi_detour_common,.-gkhi_detour_common

	.section .note.GNU-stack,"",@progbits
