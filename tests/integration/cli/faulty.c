// SPDX-License-Identifier: MIT
/*
 * faulty.c - fires faulty:follow ROUNDS times, USEC apart, by a pad as the clang pass
 * writes it: both operands hang on a pointer that leads nowhere. Usage: faulty [ROUNDS [USEC]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gkhi_faulty.h"

#undef GKHI_ARG
#define GKHI_ARG(type, size, name, operand)					\
	".byte '" type "'," #size "\n.asciz \"" name "\"\n"			\
	".asciz \"%[" #operand "]>0\"\n"
#undef GKHI_PAD
#define GKHI_PAD(sym, event, lo, hi, flags, nargs, args, ...)			\
	__asm__ __inline __volatile__(						\
		GKHI_ALIGN5							\
		".Lgkhi_pad%=:\n990:\n" GKHI_NOP5				\
		".pushsection gkhi_sites,\"ao?\",@progbits,.Lgkhi_pad%=\n"	\
		".balign 4\n991:\n.reloc .,BFD_RELOC_NONE,gkhi_hook_" #sym "\n"	\
		".2byte 0x6b47\n.byte 1," #flags "\n"				\
		".4byte 992f-991b\n.4byte " #lo "," #hi "\n.4byte 990b-.\n"	\
		".4byte " GKHI_STR(__LINE__) "\n.byte 5," #nargs ",0,1\n"	\
		".asciz \"" event "\"\n.asciz \"\"\n.asciz \"" __FILE__ "\"\n"	\
		args ".balign 4\n992:\n.popsection\n"				\
		: : __VA_ARGS__ : "cc")

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	unsigned int usec = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	unsigned long i;

	puts("ready");
	fflush(stdout);
	for (i = 0; i < rounds; i++) {
		gkhi_faulty_follow(rounds, (const char *)rounds);
		if (usec)
			usleep(usec);
	}
	return 0;
}
