/* SPDX-License-Identifier: MIT */
/*
 * vfork.S - vfork() whose child traces without restartable sequences.
 *
 * The child of a vfork shares its parent's memory, thread-local storage included,
 * but the kernel has dropped its registration: it neither keeps the area's cpu_id
 * right nor aborts a sequence. Stubs in it would write to another processor's
 * stream. So the area says "not registered" (cpu_id = -1) while the child lives:
 * stubs then take the fallback stream.
 *
 *   rseq area (glibc's):  +0 cpu_id_start  +4 cpu_id  +8 rseq_cs
 *
 * The parent sleeps until the child has gone, and puts cpu_id back from
 * cpu_id_start, which the kernel keeps right, in a restartable sequence: a
 * migration between load and store starts it again.
 *
 * cpu_id is -1 before the system call already, so that a signal handler which
 * runs first thing in the child finds it so (unless the parent was preempted in
 * between, and the kernel wrote it again: the child's own store follows).
 */
#include <asm/unistd_64.h>

#if defined(__x86_64__)
#define CPU_ID_START	0
#define CPU_ID		4
#define RSEQ_CS		8
#define RSEQ_SIGNATURE	0x53053053

	.weak	__rseq_offset		/* glibc before 2.35 has none: nothing is registered */
	.text
	.globl	vfork
	.type	vfork, @function
	.globl	__vfork
	.set	__vfork, vfork
	.globl	gkhi_vfork		/* for vfork_bind.c: this one, whatever comes before it */
	.hidden	gkhi_vfork
	.set	gkhi_vfork, vfork
	.p2align 4
vfork:
	.cfi_startproc
	endbr64
	popq	%rdi			/* the child's calls overwrite it on the stack */
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	xorl	%esi, %esi		/* 1: cpu_id was changed */
	movq	__rseq_offset@GOTPCREL(%rip), %rdx
	testq	%rdx, %rdx
	jz	1f
	movq	(%rdx), %rdx
	cmpl	$0, %fs:CPU_ID(%rdx)
	jl	1f
	incl	%esi
	movl	$-1, %fs:CPU_ID(%rdx)
1:	movl	$__NR_vfork, %eax
	syscall
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rip, 0
	testl	%esi, %esi
	jz	4f
	testl	%eax, %eax
	jnz	2f
	movl	$-1, %fs:CPU_ID(%rdx)
	jmp	4f

	/* The parent, or a failed call. */
2:	leaq	rseq_cs(%rip), %rcx
	movq	%rcx, %fs:RSEQ_CS(%rdx)
.Lstart:
	movl	%fs:CPU_ID_START(%rdx), %ecx
	movl	%ecx, %fs:CPU_ID(%rdx)
.Lcommitted:
	movq	$0, %fs:RSEQ_CS(%rdx)

4:	cmpl	$-4095, %eax
	jae	6f
	/* With a shadow stack: both return through one entry of it, so take it off and jump. */
	xorl	%esi, %esi
	rdsspq	%rsi
	testq	%rsi, %rsi
	jnz	5f
	ret
5:	movl	$1, %esi
	incsspq	%rsi
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	notrack jmp *%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rip, 0

6:	negl	%eax
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	call	__errno_location@PLT
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	movl	%ecx, (%rax)
	movq	$-1, %rax
	ret
	.cfi_endproc
	.size	vfork, . - vfork

	.section .text.gkhi_rseq_abort, "ax", @progbits
	.byte	0x0f, 0xb9, 0x3d	/* ud1: the signature is no code */
	.long	RSEQ_SIGNATURE
.Labort:
	jmp	2b

	.section .data.rel.ro.gkhi_rseq_cs, "aw", @progbits
	.balign	32
rseq_cs:
	.long	0, 0
	.quad	.Lstart, .Lcommitted - .Lstart, .Labort
#endif
	.section .note.GNU-stack, "", @progbits
