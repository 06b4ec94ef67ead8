// SPDX-License-Identifier: MIT
/*
 * sequence.c - what the event side needs of restartable sequences beside the
 * assembler: which cpu, which thread, the same copies without a sequence, and how
 * to wake consumers.
 *
 *   call                                    context               may run against
 *   port_sequence_cpu, _tid, port_copy_run  any, signal handlers  everything
 *   port_wake_all, port_thread_exists       any, signal handlers  everything
 */
#include <linux/futex.h>

#include "port_posix.h"
#include "sequence.h"
#include "sys.h"

ptrdiff_t gkhi_rseq_offset;

/* This thread's id, 0 until a slow path asked; wide streams' stubs read it. */
__thread uint32_t gkhi_tid __attribute__((tls_model("initial-exec")));

uint32_t port_sequence_cpu(void)
{
	uint32_t cpu = PORT_NO_CPU;

	if (gkhi_rseq_offset)
		__asm__ volatile("movl %%fs:4(%1), %0" : "=r"(cpu) : "r"(gkhi_rseq_offset));
	return cpu;
}

uint32_t port_sequence_tid(void)
{
	/* A thread without sequences among others with: a vfork child, on its parent's thread-local memory. */
	if (gkhi_rseq_offset && port_sequence_cpu() >= 0x80000000u)
		return (uint32_t)port_tid();
	if (!gkhi_tid)
		gkhi_tid = (uint32_t)port_tid();
	return gkhi_tid;
}

/* One 8-byte word of a copy; the bytes are read once, for somebody may change them. */
static int word_of(const struct port_copy *c, uint32_t at, uint64_t *word)
{
	const volatile uint8_t *from = c->from;
	uint32_t n = c->bytes - at;
	uint64_t w = 0;

	if (!from || !n) {
		*word = 0;
		return 0;
	}
	for (uint32_t i = 0; i < (n < 8 ? n : 8); i++) {
		uint8_t byte = from[at + i];

		if (!byte && c->kind == PORT_COPY_STRING)
			return -EFAULT;
		w |= (uint64_t)byte << (8 * i);
	}
	*word = w;
	return 0;
}

int port_copy_run(const struct port_copy *copies, uint32_t n)
{
	for (const struct port_copy *c = copies; c < copies + n; c++) {
		uint64_t *to = c->to, word;
		/* A string of whole words has one more, for its NUL. */
		uint32_t end = c->bytes + (c->kind == PORT_COPY_STRING && c->from ? 1 : 0);

		for (uint32_t at = 0; at < end; at += 8) {
			if (word_of(c, at, &word))
				return -EFAULT;
			PORT_WRITE_ONCE(to[at / 8], word);
		}
	}
	return 0;
}

void port_wake_all(uint32_t *word)
{
	/* Not private: the sleepers are other processes. */
	(void)sys_call4(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0);
}

bool port_thread_exists(uint32_t tid)
{
	/* tkill() finds threads, kill() finds processes only; EPERM: exists, but is not ours. */
	return sys_call3(SYS_tkill, (long)tid, 0, 0) != -ESRCH;
}
