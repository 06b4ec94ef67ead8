// SPDX-License-Identifier: MIT
int other(int n);
int hop(int n)
{
	__attribute__((musttail)) return other(n);
}
