// SPDX-License-Identifier: MIT
/* Hooks in the source, and one more from the YAML. */
#include "gkhi_marked.h"

#include <stdio.h>

extern unsigned int elsewhere;

static inline int inner(int n)
{
	gkhi_marked_cold(n, n & 1 ? "odd" : "even");
	return n * 2;
}

int total(int n);
int total(int n)
{
	int sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		gkhi_marked_bare(i, i / 2.0, sum > 3 ? "high" : "low");
		sum += inner(i);
	}
	return sum + (elsewhere == 1);
}

int main(void)
{
	printf("%d\n", total(6));
	return 0;
}
