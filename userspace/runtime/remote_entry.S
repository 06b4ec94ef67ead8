/* SPDX-License-Identifier: MIT */
/*
 * remote_entry.S - where a stopped thread enters the runtime, and the ELF note by
 * which it is found. See gkhi/control.h, struct gkhi_runtime_info.
 *
 * The stack is ours: the program's may be at its end, or a coroutine's small one.
 * Two callers can have stopped two threads: the second one finds the stack taken
 * and answers -EAGAIN without one.
 *
 *   context            signals                         may run against
 *   entry, the call    blocked: by the caller, and by  other threads
 *                      us, should it die before
 *   put_back           from the mask on: any; their    the same
 *                      frames come onto our stack
 */
#include <sys/syscall.h>

#define EAGAIN 11
#define SIG_SETMASK 2
#define STACK_SIZE (256 << 10)

/* struct gkhi_remote; REG: struct user_regs_struct */
#define TAKEN 4
#define MASK 8
#define REG(n) (16 + 8 * (n))
#define XSTATE_SIZE 232
#define XSTATE 256
#define FXSAVE_SIZE 512

/* x87, SSE, AVX and AVX-512: what a call may change. */
#define XFEATURES 0xe7

#if defined(__x86_64__)
	.text
	.globl	gkhi_remote_entry, gkhi_remote_entry_end
	.hidden	gkhi_remote_entry, gkhi_remote_entry_end
	.type	gkhi_remote_entry, @function
	.p2align 4
gkhi_remote_entry:
	.cfi_startproc
	.cfi_undefined rip
	cld
	xorl	%eax, %eax
	movl	$1, %ecx
	leaq	gkhi_remote(%rip), %rbx
	lock cmpxchgl %ecx, TAKEN(%rbx)
	jne	2f
	leaq	gkhi_remote_stack_end(%rip), %rsp
	movl	%edi, %ebp
	pushq	$-1
	pushq	$-1
	movq	%rsp, %rsi
	call	set_mask
	movl	%ebp, %edi
	xorl	%ebp, %ebp
	call	gkhi_remote_call
	movslq	%eax, %rsi
	movabsq	$0x676b6869646f6e65, %rdi	/* GKHI_REMOTE_DONE */
	movl	$SYS_getpid, %eax
	syscall
	/* Nobody caught it: the caller is gone. */
	call	gkhi_remote_alone
	jmp	put_back

2:	movq	$-EAGAIN, %rsi
	movabsq	$0x676b6869646f6e65, %rdi
	movl	$SYS_getpid, %eax
	syscall
	/* Nobody caught this one either, and our registers are overwritten by those of the other. */
3:	movl	$SYS_pause, %eax
	syscall
	jmp	3b

set_mask:					/* of *%rsi */
	movl	$SIG_SETMASK, %edi
	xorl	%edx, %edx
	movl	$8, %r10d
	movl	$SYS_rt_sigprocmask, %eax
	syscall
	ret

/* Not by rt_sigreturn, which forgets how a system call that was broken off goes on. */
put_back:
	leaq	gkhi_remote(%rip), %rbx
	cmpq	$FXSAVE_SIZE, XSTATE_SIZE(%rbx)
	ja	1f
	fxrstor64 XSTATE(%rbx)
	jmp	2f
1:	movl	$XFEATURES, %eax
	xorl	%edx, %edx
	xrstor64 XSTATE(%rbx)
2:	leaq	MASK(%rbx), %rsi
	call	set_mask
	movq	REG(0)(%rbx), %r15
	movq	REG(1)(%rbx), %r14
	movq	REG(2)(%rbx), %r13
	movq	REG(3)(%rbx), %r12
	movq	REG(4)(%rbx), %rbp
	movq	REG(6)(%rbx), %r11
	movq	REG(7)(%rbx), %r10
	movq	REG(8)(%rbx), %r9
	movq	REG(9)(%rbx), %r8
	movq	REG(10)(%rbx), %rax
	movq	REG(11)(%rbx), %rcx
	movq	REG(12)(%rbx), %rdx
	movq	REG(13)(%rbx), %rsi
	movq	REG(14)(%rbx), %rdi
	pushq	REG(18)(%rbx)
	popfq
	movq	REG(19)(%rbx), %rsp
	movq	REG(5)(%rbx), %rbx
	jmp	*(gkhi_remote + REG(16))(%rip)
	.cfi_endproc
	.size	gkhi_remote_entry, . - gkhi_remote_entry
gkhi_remote_entry_end:

	.globl	gkhi_remote_stack, gkhi_remote_stack_end
	.hidden	gkhi_remote_stack, gkhi_remote_stack_end, gkhi_remote
	.section .bss.gkhi_remote_stack, "aw", @nobits
	.balign	4096
gkhi_remote_stack:
	.zero	STACK_SIZE
gkhi_remote_stack_end:

	.section .note.gkhi, "a", @note
	.balign	4
	.long	5, 8, 1				/* GKHI_NOTE_OWNER, GKHI_NOTE_RUNTIME */
	.asciz	"gkhi"
	.balign	4
	.quad	gkhi_runtime_info - .
	.hidden	gkhi_runtime_info
#endif
	.section .note.GNU-stack, "", @progbits
