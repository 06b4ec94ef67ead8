// SPDX-License-Identifier: MIT
int handle(int length, int depth)
{
	return length * depth;
}
