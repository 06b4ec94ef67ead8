// SPDX-License-Identifier: MIT
/* ticker.c - fires ticker:tick ROUNDS times, USEC apart, then ticker:end. Usage: ticker ROUNDS [USEC [exit-code [label]]] */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gkhi_ticker.h"

#ifdef SLOW_START_USEC
/* Before the constructor that hands the hooks in. */
__attribute__((constructor(200))) static void start_slowly(void)
{
	usleep(SLOW_START_USEC);
}
#endif

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	unsigned int usec = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	unsigned long i;

	puts("ready");
	fflush(stdout);
	for (i = 1; i <= rounds; i++) {
		gkhi_ticker_tick(i, (uint32_t)(i % 4), argc > 4 ? argv[4] : "loop");
		if (usec)
			usleep(usec);
	}
	gkhi_ticker_end(rounds);
	return argc > 3 ? atoi(argv[3]) : 0;
}
