// SPDX-License-Identifier: MIT
/*
 * detour_string.c - the string of a fast detour, measured and copied at once as
 * STRING of stubs.S does it: 16 bytes at a time, each byte read once. NULL, what
 * needs more words than there are, or comes near the end of its page, leaves the
 * sequence. Control lock held.
 *
 *   rax = the string, rdx = where it goes, rdi = the commit word with the fixed part
 *   r8 = words left, r9 = the NULs among 16 bytes, xmm0, xmm1
 *
 * Why no read of it can fault that a static call would not make, too:
 *  - only pads of which the program itself wrote the arguments come here
 *    (detour->trusted): the pointer is the one that the call in the same source line
 *    hands to a stub, evaluated by the same cold block. What the pass found may be
 *    anything; the generic detour asks the kernel for every page of it first;
 *  - the first of 16 bytes is one that the call reads: the string's first, or one
 *    behind bytes without a NUL and within the field's bound;
 *  - the other 15 are in the same page (else: slow), and protection, mapping and end
 *    of file go by pages;
 *  - the slow way reads a trusted string byte by byte, as gkhi_dispatch() does for the call.
 * Neither a signal nor a preemption in the midst leaves anything: the sequence is
 * aborted in front of the handler, what was written lies behind the committed words.
 */
#include "detour_code.h"

#define MASK_BYTES	16u

/* 16 bytes from MASK_BYTES - n on: n of ff, then 00. */
void detour_string_data(struct code *c)
{
	code_u64(c, ~0ull);
	code_u64(c, ~0ull);
	code_u64(c, 0);
	code_u64(c, 0);
}

/* In the red zone below rsp, which the kernel leaves alone; nothing is called. */
void detour_string_save(struct code *c)
{
	CODE(c, "\x4c\x89\x44\x24\xf8"			/* mov %r8,-8(%rsp) */
		"\x4c\x89\x4c\x24\xf0"			/* mov %r9,-16(%rsp) */
		"\xf3\x0f\x7f\x44\x24\xe0"		/* movdqu %xmm0,-32(%rsp) */
		"\xf3\x0f\x7f\x4c\x24\xd0");		/* movdqu %xmm1,-48(%rsp) */
}

void detour_string_restore(struct code *c)
{
	CODE(c, "\x4c\x8b\x44\x24\xf8"			/* mov -8(%rsp),%r8 */
		"\x4c\x8b\x4c\x24\xf0"			/* mov -16(%rsp),%r9 */
		"\xf3\x0f\x6f\x44\x24\xe0"		/* movdqu -32(%rsp),%xmm0 */
		"\xf3\x0f\x6f\x4c\x24\xd0");		/* movdqu -48(%rsp),%xmm1 */
}

/* xmm0 = the next 16 bytes, r9 = which of them are NUL */
static void read_bytes(struct code *c)
{
	CODE(c, "\x41\x89\xc1"				/* mov %eax,%r9d */
		"\x41\x81\xe1\xff\x0f\x00\x00"		/* and $4095,%r9d */
		"\x41\x81\xf9\xf0\x0f\x00\x00"		/* cmp $4096-16,%r9d */
		"\x0f\x87");				/* ja slow */
	code_slow(c);
	CODE(c, "\xf3\x0f\x6f\x00"			/* movdqu (%rax),%xmm0 */
		"\x66\x0f\xef\xc9"			/* pxor %xmm1,%xmm1 */
		"\x66\x0f\x74\xc8"			/* pcmpeqb %xmm0,%xmm1 */
		"\x66\x44\x0f\xd7\xc9"			/* pmovmskb %xmm1,%r9d */
		"\x45\x85\xc9");			/* test %r9d,%r9d */
}

/* No NUL among them: two words gone, and one must be left. */
static void write_bytes(struct code *c)
{
	CODE(c, "\x41\x83\xe8\x02"			/* sub $2,%r8d */
		"\x0f\x86");				/* jbe slow */
	code_slow(c);
	CODE(c, "\xf3\x0f\x7f\x02"			/* movdqu %xmm0,(%rdx) */
		"\x48\x83\xc2\x10"			/* add $16,%rdx */
		"\x48\x83\xc7\x10"			/* add $16,%rdi */
		"\x48\x83\xc0\x10");			/* add $16,%rax */
}

/* What lies behind the NUL is none of ours: zeros instead, up to the end of its word. */
static void write_last(struct code *c, uintptr_t mask)
{
	CODE(c, "\x45\x0f\xbc\xc9"			/* bsf %r9d,%r9d */
		"\x48\x8d\x05");			/* lea mask+16(%rip),%rax */
	code_rel32(c, mask + MASK_BYTES);
	CODE(c, "\x4c\x29\xc8"				/* sub %r9,%rax */
		"\xf3\x0f\x6f\x08"			/* movdqu (%rax),%xmm1 */
		"\x66\x0f\xdb\xc1"			/* pand %xmm1,%xmm0 */
		"\x41\xc1\xe9\x03"			/* shr $3,%r9d */
		"\x45\x39\xc1"				/* cmp %r8d,%r9d */
		"\x0f\x83");				/* jae slow */
	code_slow(c);
	CODE(c, "\xf3\x0f\x7f\x02"			/* movdqu %xmm0,(%rdx) */
		"\x4a\x8d\x7c\xcf\x08");		/* lea 8(%rdi,%r9,8),%rdi */
}

void detour_string_copy(struct code *c, unsigned int words, uintptr_t data)
{
	uint8_t *last;
	uintptr_t again;

	CODE(c, "\x48\x85\xc0\x0f\x84");		/* test %rax,%rax; jz slow */
	code_slow(c);
	CODE(c, "\x41\xb8");				/* mov $words,%r8d */
	code_u32(c, words);
	again = code_here(c);
	read_bytes(c);
	CODE(c, "\x0f\x85");				/* jnz last */
	last = code_forward(c);
	write_bytes(c);
	CODE(c, "\xe9");				/* jmp again */
	code_rel32(c, again);
	code_land(c, last);
	write_last(c, data);
}
