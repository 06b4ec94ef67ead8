// SPDX-License-Identifier: MIT
/*
 * detour_read.c - reads through pointers of which nothing is known. Event side.
 *
 * Whether a word is readable is asked of the kernel with rt_sigprocmask() and an
 * operation that does not exist: it copies the word in first (-EFAULT), refuses
 * the operation then (-EINVAL), and changes nothing. That call is allowed in
 * practically every sandbox, which process_vm_readv() is not, costs a third of
 * it, and needs no SIGSEGV handler in somebody else's program. A page is asked for
 * once per event; the page under the stack pointer never, nor what hangs on an
 * argument that the program wrote into its hook: a stub reads that without asking.
 *
 * What is left: a page that another thread unmaps between the question and the
 * load. The program races with itself there.
 */
#include <sys/syscall.h>

#include "detour.h"

#define PAGE_MASK	(~4095ul)
#define USER_MIN	4096ul
#define USER_MAX	0x00fffffffffff000ul	/* five-level page tables included */

static long system_call4(long number, long a, uint64_t b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

static bool page_readable(uint64_t page, struct detour_context *context)
{
	if (context->trusted || page == context->page || page == (context->regs.r[GKHI_REG_RSP] & PAGE_MASK))
		return true;
	if (page < USER_MIN || page > USER_MAX)
		return false;
	if (system_call4(SYS_rt_sigprocmask, ~0, page, 0, 8) != -EINVAL)
		return false;
	context->page = page;
	return true;
}

bool detour_readable(uint64_t src, size_t n, struct detour_context *context)
{
	uint64_t page, last;

	if (!n)
		return true;
	if (src + n - 1 < src)
		return false;
	last = (src + n - 1) & PAGE_MASK;
	for (page = src & PAGE_MASK; ; page += 4096) {
		if (!page_readable(page, context))
			return false;
		if (page == last)
			return true;
	}
}

int detour_read(void *dst, uint64_t src, size_t n, const struct gkhi_regs *regs)
{
	struct detour_context *context = (struct detour_context *)regs;	/* its first member */
	uint8_t *to = dst;
	const volatile uint8_t *from = (const volatile uint8_t *)src;
	size_t i;

	if (!detour_readable(src, n, context))
		return -EFAULT;
	switch (n) {
	case 8:
		*(uint64_t *)dst = *(const volatile uint64_t *)src;
		break;
	case 4:
		*(uint32_t *)dst = *(const volatile uint32_t *)src;
		break;
	default:
		for (i = 0; i < n; i++)
			to[i] = from[i];
	}
	return 0;
}
