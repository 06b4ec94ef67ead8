/* SPDX-License-Identifier: MIT */
/*
 * sequence.S - port_sequence_run(): the ring's slow path, copies of any number
 * and kind and one store that publishes them.
 *
 *   int port_sequence_run(const struct port_sequence *s);	System V call, any context
 *
 * See sequence.h for the rules of a restartable sequence. General registers only.
 */
#include "sequence.h"

#define S	%rdi
#define COPY	%rsi
#define LEFT	%r8d
#define TO	%r9
#define FROM	%r10
#define BYTES	%ecx

	.text
	.globl	port_sequence_run
	.hidden	port_sequence_run
	.type	port_sequence_run, @function
	.p2align 4
port_sequence_run:
	.cfi_startproc
	movq	gkhi_rseq_offset(%rip), %rdx
	leaq	.Lcs(%rip), %rax
#ifndef GKHI_TEST_UNARMED			/* the stress test's negative control */
	movq	%rax, %fs:SEQ_RSEQ_CS(%rdx)
#endif
.Lstart:
	movl	%fs:SEQ_RSEQ_CPU(%rdx), %eax
	cmpl	%eax, SEQ_CPU(S)
	jne	.Lagain
	movq	SEQ_COMMIT(S), %rdx
	movq	SEQ_EXPECTED(S), %rax
	cmpq	%rax, (%rdx)
	jne	.Lagain
	movq	SEQ_STAMP(S), %rdx
	movq	SEQ_STAMPED(S), %rax
	cmpq	%rax, (%rdx)
	jne	.Lagain
	movq	SEQ_COPIES(S), COPY
	movl	SEQ_N_COPIES(S), LEFT
	testl	LEFT, LEFT
	jz	.Lcommit
.Lcopy:
	movq	SEQ_COPY_TO(COPY), TO
	movq	SEQ_COPY_FROM(COPY), FROM
	movl	SEQ_COPY_BYTES(COPY), BYTES
	testq	FROM, FROM
	jz	.Lzeros
	cmpl	$0, SEQ_COPY_KIND(COPY)
	jne	.Lstring
.Lwords:				/* whole words */
	subl	$8, BYTES
	jb	.Lrest
	movq	(FROM), %rax
	addq	$8, FROM
	movq	%rax, (TO)
	addq	$8, TO
	jmp	.Lwords
.Lrest:					/* 0..7 bytes, padded */
	addl	$8, BYTES
	jz	.Lnext
	xorl	%eax, %eax
.Lrest_byte:
	shlq	$8, %rax
	movb	-1(FROM,%rcx), %al
	decl	BYTES
	jnz	.Lrest_byte
	movq	%rax, (TO)
.Lnext:
	addq	$SEQ_COPY_SIZE, COPY
	decl	LEFT
	jnz	.Lcopy
	jmp	.Lcommit

.Lzeros:
	addl	$7, BYTES
	shrl	$3, BYTES
	jz	.Lnext
.Lzero_word:
	movq	$0, (TO)
	addq	$8, TO
	decl	BYTES
	jnz	.Lzero_word
	jmp	.Lnext

	/* As above, but a 0 among the bytes means that somebody changes the string. */
.Lstring:
	subl	$8, BYTES
	jb	.Lstring_rest
	movq	(FROM), %rax
	addq	$8, FROM
	movabsq	$0x0101010101010101, %r11
	movq	%rax, %rdx
	subq	%r11, %rdx
	shlq	$7, %r11
	andq	%r11, %rdx
	movq	%rax, %r11
	notq	%r11
	testq	%r11, %rdx
	jnz	.Lchanged
	movq	%rax, (TO)
	addq	$8, TO
	jmp	.Lstring
.Lstring_rest:
	addl	$8, BYTES
	movl	$0, %eax
	jz	.Lstring_last
.Lstring_byte:
	movzbl	-1(FROM,%rcx), %edx
	testl	%edx, %edx
	jz	.Lchanged
	shlq	$8, %rax
	orq	%rdx, %rax
	decl	BYTES
	jnz	.Lstring_byte
.Lstring_last:
	movq	%rax, (TO)
	jmp	.Lnext

.Lcommit:
	movq	SEQ_COMMIT(S), %rdx
	movq	SEQ_NEXT(S), %rax
	movq	%rax, (%rdx)
.Lend:
	xorl	%eax, %eax
	ret

.Lagain:
	movl	$-11, %eax		/* -EAGAIN */
	ret
.Lchanged:
	movl	$-14, %eax		/* -EFAULT */
	ret
	.cfi_endproc
	.size	port_sequence_run, .-port_sequence_run

	.section __rseq_failure, "ax", @progbits
	.byte	0x0f, 0xb9, 0x3d	/* ud1 SIG(%rip), %edi: the signature disassembles */
	.long	SEQ_RSEQ_SIG
.Labort:
	jmp	.Lagain

	.section .data.rel.ro, "aw", @progbits
	.balign	32
.Lcs:	.long	0, 0
	.quad	.Lstart, .Lend - .Lstart, .Labort

	.section .note.GNU-stack, "", @progbits
