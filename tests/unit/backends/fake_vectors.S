/* SPDX-License-Identifier: MIT */
/*
 * fake_vectors.S - bool fake_vectors_survive(void (*fn)(void *, void *), void *a, void *b)
 *
 * Fills the vector registers (AVX), an x87 register and MXCSR, calls fn(a, b) by
 * port_call_saving_vectors(), and returns whether all of them survived.
 */
	.set	MXCSR, 0x3f80		/* round down: not what anybody starts with */

	.text
	.globl	fake_vectors_survive
	.type	fake_vectors_survive, @function
fake_vectors_survive:
	endbr64
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	subq	$56, %rsp
	stmxcsr	8(%rsp)
	movl	$MXCSR, 12(%rsp)
	ldmxcsr	12(%rsp)
	fldpi
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	ymm_pattern + 2 * \n(%rip), %ymm\n
	.endr
	call	port_call_saving_vectors
	movl	$1, %eax
	xorl	%ebx, %ebx
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	%ymm\n, 16(%rsp)
	.irp	part, 0, 8, 16, 24
	movq	16 + \part(%rsp), %rcx
	cmpq	%rcx, ymm_pattern + 2 * \n + \part(%rip)
	cmovne	%ebx, %eax
	.endr
	.endr
	fldpi
	fucomip	%st(1), %st
	cmovne	%ebx, %eax
	fstp	%st(0)
	stmxcsr	12(%rsp)
	cmpl	$MXCSR, 12(%rsp)
	cmovne	%ebx, %eax
	ldmxcsr	8(%rsp)
	vzeroupper
	movq	-8(%rbp), %rbx
	leave
	ret
	.size	fake_vectors_survive, .-fake_vectors_survive

	.section .rodata
	.balign	32
ymm_pattern:				/* 32 bytes from each even offset up to 30 */
	.set	i, 1
	.rept	64
	.byte	i * 37 & 255
	.set	i, i + 1
	.endr

	.section .note.GNU-stack, "", @progbits
