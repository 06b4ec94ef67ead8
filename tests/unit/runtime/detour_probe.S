/* SPDX-License-Identifier: MIT */
/*
 * detour_probe.S - a pad in the middle of known registers.
 *
 * detour_probe() loads every register, the flags and the red zone from
 * detour_probe_in, runs through the pad detour_probe_pad, and stores all of them
 * to detour_probe_out. struct ProbeState in detour_test.cc is the layout.
 */
#define R(i)	(8 * (i))
#define FLAGS	128
#define XMM(i)	(144 + 16 * (i))
#define RED(i)	(400 + 8 * (i))


	.text
	.globl detour_probe
	.type detour_probe,@function
detour_probe:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	.irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movups detour_probe_in+XMM(\i)(%rip),%xmm\i
	.endr
	pushq detour_probe_in+FLAGS(%rip)
	popfq
	.irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movq detour_probe_in+RED(\i)(%rip),%rax
	movq %rax,-8*\i-8(%rsp)
	.endr
	movq %rsp,detour_probe_in+R(4)(%rip)
	movq detour_probe_in+R(0)(%rip),%rax
	movq detour_probe_in+R(1)(%rip),%rcx
	movq detour_probe_in+R(2)(%rip),%rdx
	movq detour_probe_in+R(3)(%rip),%rbx
	movq detour_probe_in+R(5)(%rip),%rbp
	movq detour_probe_in+R(6)(%rip),%rsi
	movq detour_probe_in+R(7)(%rip),%rdi
	.irp i,8,9,10,11,12,13,14,15
	movq detour_probe_in+R(\i)(%rip),%r\i
	.endr

	.p2align 3,,4
	.globl detour_probe_pad
detour_probe_pad:
	.byte 0x0f,0x1f,0x44,0x00,0x00

	movq %rax,detour_probe_out+R(0)(%rip)
	movq %rcx,detour_probe_out+R(1)(%rip)
	movq %rdx,detour_probe_out+R(2)(%rip)
	movq %rbx,detour_probe_out+R(3)(%rip)
	movq %rsp,detour_probe_out+R(4)(%rip)
	movq %rbp,detour_probe_out+R(5)(%rip)
	movq %rsi,detour_probe_out+R(6)(%rip)
	movq %rdi,detour_probe_out+R(7)(%rip)
	.irp i,8,9,10,11,12,13,14,15
	movq %r\i,detour_probe_out+R(\i)(%rip)
	.endr
	.irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movq -8*\i-8(%rsp),%rax
	movq %rax,detour_probe_out+RED(\i)(%rip)
	.endr
	pushfq
	popq detour_probe_out+FLAGS(%rip)
	.irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movups %xmm\i,detour_probe_out+XMM(\i)(%rip)
	.endr
	cld
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret
	.size detour_probe,.-detour_probe

	.section .note.GNU-stack,"",@progbits
