// SPDX-License-Identifier: MIT
int handle(int extent, int depth)
{
	return extent * depth;
}
