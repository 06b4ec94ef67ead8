// SPDX-License-Identifier: MIT
/* An untouched hot loop for pass_cost.sh: its marker takes two locals, the index and what is behind a pointer. */
#include <stdio.h>
#include <stdlib.h>

struct task {
	const unsigned int *table;
	int pid;
};

__attribute__((noinline)) unsigned int walk(const struct task *p, unsigned int n)
{
	unsigned int sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		unsigned int x = p->table[(i * 7 + sum) & 255];

		x = (x ^ (x >> 5)) * 3 + i;
		sum += x & 1023;
	}
	return sum + (unsigned int)p->pid;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 1000;
	static unsigned int table[256];
	const struct task task = { table, 17 };
	unsigned int i;

	for (i = 0; i < 256; i++)
		table[i] = i * 2654435761u >> 20;
	printf("%u\n", walk(&task, n));
	return 0;
}
