// SPDX-License-Identifier: MIT
int total(int n)
{
	int sum = 0;
	/* add */
	sum += n;
	sum += n;
	return sum;
}
