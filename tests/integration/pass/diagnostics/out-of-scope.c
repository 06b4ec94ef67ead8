// SPDX-License-Identifier: MIT
int next(int);
int walk(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		int step = next(i);
		sum += step;
	}
	return sum;
}
