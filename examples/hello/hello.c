// SPDX-License-Identifier: MIT
/* hello.c - the smallest program with a hook. Usage: hello NAME... */
#include <stdio.h>

#include "gkhi_hello.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		printf("hello, %s\n", argv[i]);
		gkhi_hello_greet((uint32_t)i, argv[i]);
	}
	return 0;
}
