/* SPDX-License-Identifier: MIT */
/*
 * harness_stub.S - a stub that fouls what it may not rely on: saves what C may
 * clobber, calls gkhi_dispatch(), overwrites what a stub need not preserve (the
 * flags), and leaves. Entry: rcx = hook; on the stack saved rcx, return address, frame.
 */
	.text
	.globl harness_stub
	.hidden harness_stub
	.type harness_stub,@function
harness_stub:
	endbr64
	pushq %rax
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %rbp
	movq %rsp,%rbp
	movq %rcx,%rdi
	leaq 88(%rsp),%rsi
	andq $-16,%rsp
	call gkhi_dispatch
	movq %rbp,%rsp
	popq %rbp
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rax
	popq %rcx
	cmpq $0x55,%rsp
	stc
	ret
	.size harness_stub,.-harness_stub

	.section .note.GNU-stack,"",@progbits
