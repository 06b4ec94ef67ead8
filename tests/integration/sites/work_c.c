// SPDX-License-Identifier: MIT
/* work_c.c - hooks in C: leaf functions with a red zone, loops, cleanup attributes, many live values. */
#include "sites_inline.h"

#include <string.h>

#define NOINLINE __attribute__((noinline))

static uint64_t cleaned;

static void clean(const int *x)
{
	cleaned += (uint64_t)*x;
	gkhi_sites_num(1000u, *x);
}

/* A leaf: its array lies in the red zone. */
NOINLINE static uint64_t leaf(uint64_t a, uint64_t b)
{
	volatile uint64_t local[6];
	int i;

	for (i = 0; i < 6; i++)
		local[i] = a + b * (uint64_t)i;
	gkhi_sites_num(a, (int64_t)b);
	gkhi_sites_none();
	for (i = 1; i < 6; i++)
		local[0] ^= local[i];
	return local[0];
}

NOINLINE static uint64_t many_live(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	uint64_t g = a * b, h = c * d, i = e * f, j = a ^ f, k = b + e, l = c - d;

	gkhi_sites_wide(a, b, g + h, i, j, (uint32_t)k, (uint32_t)l, (int16_t)-3);
	g += h * i;
	gkhi_sites_wide(g, h, i, j, k, 5, (uint32_t)a, (int16_t)b);
	return g + h + i + j + k + l + a + b + c + d + e + f;
}

NOINLINE static uint64_t floating(double x, double y)
{
	double z = x * y + 0.25;
	float w = (float)(x - y);

	gkhi_sites_real(z, 1);
	z += w;
	gkhi_sites_real(z, 2u + (uint32_t)w);
	return (uint64_t)(z * 100.0 + w + x + y);
}

/* Stores to what a hook reads must be done when it reads. */
NOINLINE static uint64_t strings(uint64_t seed)
{
	char name[12] = { 0 };
	uint8_t addr[4];
	uint32_t nums[8];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 3; i++) {
		memcpy(name, "name-", 5);
		name[5] = (char)('a' + i);
		name[6] = '\0';
		addr[0] = (uint8_t)i;
		addr[1] = 2;
		addr[2] = (uint8_t)seed;
		addr[3] = 255;
		gkhi_sites_mixed((uint32_t)i * 1000, (uint16_t)(65535 - i), i & 1, (int8_t)-i, name, addr);
		name[0] = 'N';
		sum += (uint64_t)name[0];
	}
	for (i = 0; i < 8; i++)
		nums[i] = (uint32_t)(seed + (uint64_t)i);
	for (i = 0; i < 9; i += 2) {
		gkhi_sites_list(nums, (unsigned int)i, name, (unsigned int)(i + 3));
		nums[i & 3]++;
	}
	gkhi_sites_mixed(0, 0, true, 1, "a string longer than sixteen", addr);
	return sum + nums[0];
}

NOINLINE static uint64_t cleanups(int x)
{
	int y __attribute__((cleanup(clean))) = x;

	gkhi_sites_num(2000, y);
	{
		int z __attribute__((cleanup(clean))) = x + 1;

		gkhi_sites_num(3000, z);
		if (x == 3)
			return (uint64_t)z;
	}
	return (uint64_t)y;
}

/* The pad in the hot path; constants after unrolling. */
NOINLINE static uint64_t bare(int n)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		gkhi_sites_bare(i * 3, (const void *)(uintptr_t)(sum & 0xfff));
		sum += (uint64_t)i * sum + 1;
	}
	for (i = 0; i < 3; i++)
		gkhi_sites_num((uint64_t)i, i == 1 ? -5000000000ll : 7);
	return sum;
}

NOINLINE static uint64_t branches(uint64_t x)
{
	switch (x & 3) {
	case 0:
		gkhi_sites_num(10, 0);
		goto out;
	case 1:
		gkhi_sites_num(11, 1);
		return x;
	default:
		if (x > 2)
			gkhi_sites_none();
	}
	x++;
out:
	gkhi_sites_num(12, (int64_t)x);
	return x * 2;
}

uint64_t sites_work_c(uint64_t seed)
{
	uint64_t sum = 0, i;

	cleaned = 0;
	for (i = 0; i < 4; i++)
		sum += leaf(seed + i, i * 3) + branches(i);
	sum += many_live(seed, 2, 3, 4, 5, 6);
	sum += floating(1.5, 2.25);
	sum += strings(seed);
	sum += cleanups(3) + cleanups(4) + cleaned;
	sum += bare(5);
	return sum + sites_shared(sum & 0xff);
}
