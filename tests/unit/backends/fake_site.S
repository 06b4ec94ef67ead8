/* SPDX-License-Identifier: MIT */
/*
 * fake_site.S - bool fake_site_call(struct gkhi_hook *hook, const uint64_t *frame, size_t words)
 *
 * A site and its thunk by hand: pushes the frame, gives every register a value,
 * calls the stub, and returns whether all of them and the stack pointer survived.
 */
	.text
	.type	thunk, @function
thunk:
	pushq	%rcx
	movq	-8(%rbp), %rcx
	jmpq	*(%rcx)

	.macro	SET reg, value
	movabsq	$0x1234567800000000 + \value, %\reg
	.endm

	/* Leaves with 0 when the saved register on the stack is not what it was set to. */
	.macro	CHECK reg, value
	movabsq	$0x1234567800000000 + \value, %rax
	cmpq	%rax, %\reg
	jne	9f
	.endm

	.globl	fake_site_call
	.type	fake_site_call, @function
fake_site_call:
	endbr64
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, %rbp
	pushq	%rdi			/* the hook, for the thunk */
	movdqu	pattern(%rip), %xmm0
	movdqa	%xmm0, %xmm7
	movdqa	%xmm0, %xmm15
	leaq	-128(%rsp), %rsp	/* a red zone */
1:	testq	%rdx, %rdx
	jz	2f
	decq	%rdx
	pushq	(%rsi,%rdx,8)
	jmp	1b
2:	movq	%rsp, -16(%rbp)		/* in the red zone: nobody may touch it */
	SET	rax, 1
	SET	rbx, 2
	SET	rdx, 3
	SET	rsi, 4
	SET	rdi, 5
	SET	r8, 6
	SET	r9, 7
	SET	r10, 8
	SET	r11, 9
	SET	r12, 10
	SET	r13, 11
	SET	r14, 12
	SET	r15, 13
	SET	rcx, 14
	call	thunk
	cmpq	%rsp, -16(%rbp)
	jne	9f
	movq	%rax, -24(%rbp)
	CHECK	rbx, 2
	CHECK	rdx, 3
	CHECK	rsi, 4
	CHECK	rdi, 5
	CHECK	r8, 6
	CHECK	r9, 7
	CHECK	r10, 8
	CHECK	r11, 9
	CHECK	r12, 10
	CHECK	r13, 11
	CHECK	r14, 12
	CHECK	r15, 13
	CHECK	rcx, 14
	movq	-24(%rbp), %rdx
	CHECK	rdx, 1
	.irp	reg, xmm0, xmm7, xmm15
	pcmpeqb	pattern(%rip), %\reg
	pmovmskb %\reg, %eax
	cmpl	$0xffff, %eax
	jne	9f
	.endr
	movl	$1, %eax
	jmp	3f
9:	xorl	%eax, %eax
3:	movq	%rbp, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	ret
	.size	fake_site_call, .-fake_site_call

	.section .rodata
	.balign	16
pattern:
	.octa	0x5a17c3d2e4f1a0b9c8d7e6f504132231

	.section .note.GNU-stack, "", @progbits
