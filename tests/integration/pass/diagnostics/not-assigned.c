// SPDX-License-Identifier: MIT
int next(int);
int walk(int n)
{
	int last;
	n++;
	last = next(n);
	return last;
}
