/* SPDX-License-Identifier: MIT */
/*
 * remote_entry.S - where a stopped thread enters the runtime, and the ELF note by
 * which it is found. See gkhi/control.h, struct gkhi_runtime_info.
 *
 * The stack is ours: the program's may be at its end, or a coroutine's small one.
 * Two callers can have stopped two threads: the second one finds the stack taken
 * and answers -EAGAIN without one.
 */
#include <sys/syscall.h>

#define EAGAIN 11
#define STACK_SIZE (256 << 10)

#if defined(__x86_64__)
	.text
	.globl	gkhi_remote_entry
	.hidden	gkhi_remote_entry
	.type	gkhi_remote_entry, @function
	.p2align 4
gkhi_remote_entry:
	.cfi_startproc
	.cfi_undefined rip
	cld
	xorl	%eax, %eax
	movl	$1, %ecx
	lock cmpxchgl %ecx, remote_taken(%rip)
	jne	2f
	leaq	remote_stack_end(%rip), %rsp
	xorl	%ebp, %ebp
	call	gkhi_remote_call
	movslq	%eax, %rsi
	movl	$0, remote_taken(%rip)
	jmp	3f
2:	movq	$-EAGAIN, %rsi
3:	movabsq	$0x676b6869646f6e65, %rdi	/* GKHI_REMOTE_DONE */
	movl	$SYS_getpid, %eax
	syscall
	/* Nobody caught it: the caller is gone, and with it this thread's registers. */
4:	movl	$SYS_pause, %eax
	syscall
	jmp	4b
	.cfi_endproc
	.size	gkhi_remote_entry, . - gkhi_remote_entry

	.local	remote_taken
	.comm	remote_taken, 4, 4
	.section .bss.gkhi_remote_stack, "aw", @nobits
	.balign	4096
	.zero	STACK_SIZE
remote_stack_end:

	.section .note.gkhi, "a", @note
	.balign	4
	.long	5, 8, 1				/* GKHI_NOTE_OWNER, GKHI_NOTE_RUNTIME */
	.asciz	"gkhi"
	.balign	4
	.quad	gkhi_runtime_info - .
	.hidden	gkhi_runtime_info
#endif
	.section .note.GNU-stack, "", @progbits
