/* SPDX-License-Identifier: MIT */
#include "gkhi_demo.h"

int main(void)
{
	gkhi_demo_tick(1);
	return 0;
}
