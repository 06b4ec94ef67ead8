// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * float.c - the shortest text that reads back as the same floating-point number,
 * by integers alone (the free-format algorithm of Steele, White, Burger and
 * Dybvig): no locale, no memory, no floating-point register.
 *
 * The number is r/s; m_low and m_high are the distances to half-way points of its
 * neighbours, all times the same power. Digits are made until what is left is
 * nearer than those.
 */
#include "line.h"

#define LIMBS	40		/* 1280 bits: f64 needs 1134 */

struct big {
	uint32_t limb[LIMBS];	/* least significant first */
};

struct number {
	struct big r, s, low, high;
	bool even;		/* the half-way points themselves read back, too */
};

static void big_set(struct big *b, uint64_t value)
{
	for (int i = 2; i < LIMBS; i++)
		b->limb[i] = 0;
	b->limb[0] = (uint32_t)value;
	b->limb[1] = (uint32_t)(value >> 32);
}

static void big_mul(struct big *b, uint32_t factor)
{
	uint64_t carry = 0;

	for (int i = 0; i < LIMBS; i++) {
		carry += (uint64_t)b->limb[i] * factor;
		b->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

static void big_shift(struct big *b, unsigned int n)
{
	for (; n >= 31; n -= 31)
		big_mul(b, 1u << 31);
	big_mul(b, 1u << n);
}

static int big_compare(const struct big *a, const struct big *b)
{
	for (int i = LIMBS; i-- > 0;) {
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	}
	return 0;
}

static void big_add(struct big *sum, const struct big *a, const struct big *b)
{
	uint64_t carry = 0;

	for (int i = 0; i < LIMBS; i++) {
		carry += (uint64_t)a->limb[i] + b->limb[i];
		sum->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

static void big_sub(struct big *a, const struct big *b)
{
	uint64_t borrow = 0;

	for (int i = 0; i < LIMBS; i++) {
		uint64_t difference = (uint64_t)a->limb[i] - b->limb[i] - borrow;

		a->limb[i] = (uint32_t)difference;
		borrow = difference >> 63;
	}
}

static void times_ten(struct number *n)
{
	big_mul(&n->r, 10);
	big_mul(&n->low, 10);
	big_mul(&n->high, 10);
}

/* Is r + high past s? Then the number is 10 or more (of its present power). */
static bool too_high(const struct number *n)
{
	struct big sum;
	int order;

	big_add(&sum, &n->r, &n->high);
	order = big_compare(&sum, &n->s);
	return n->even ? order >= 0 : order > 0;
}

/* fraction * 2^power as a struct number. @edge: the neighbour below is half as far. */
static void number_set(struct number *n, uint64_t fraction, int power, bool edge)
{
	big_set(&n->r, fraction);
	big_set(&n->s, 1);
	big_set(&n->low, 1);
	n->even = !(fraction & 1);
	if (power >= 0) {
		big_shift(&n->r, (unsigned int)power);
		big_shift(&n->low, (unsigned int)power);
	} else {
		big_shift(&n->s, (unsigned int)-power);
	}
	n->high = n->low;
	big_mul(&n->high, edge ? 2 : 1);
	big_mul(&n->r, edge ? 4 : 2);
	big_mul(&n->s, edge ? 4 : 2);
}

/* Scale so that the first digit is the next one. The number is 0.digits * 10^(result). */
static int scale(struct number *n, int bits, int power)
{
	/* floor(log10(2^x)) + 1; for |x| < 1100 no power of 2 is near enough to one of 10 to matter. */
	int k = (int)(((int64_t)(bits + power - 1) * 1292913986) >> 32) + 1;

	for (int i = 0; i < k; i++)
		big_mul(&n->s, 10);
	for (int i = 0; i > k; i--)
		times_ten(n);
	if (too_high(n)) {		/* the number is up to twice that power of 2 */
		big_mul(&n->s, 10);
		k++;
	}
	return k;
}

static int make_digits(struct number *n, char *text)
{
	int count = 0;

	for (;;) {
		int digit = 0, order;
		bool low, high;

		times_ten(n);
		while (big_compare(&n->r, &n->s) >= 0) {
			big_sub(&n->r, &n->s);
			digit++;
		}
		order = big_compare(&n->r, &n->low);
		low = n->even ? order <= 0 : order < 0;
		high = too_high(n);
		if (low && high) {	/* the nearer end; of two the even one */
			big_mul(&n->r, 2);
			order = big_compare(&n->r, &n->s);
			digit += order > 0 || (!order && digit % 2);
		} else if (high) {
			digit++;
		}
		text[count++] = (char)('0' + digit);
		if (low || high)
			return count;
	}
}

/* Plain from 0.0001 to 10^16, else with an exponent: as fmt and Python's repr have it. */
static void put(struct gkhi_line *line, const char *text, int count, int point)
{
	int exponent = point - 1;

	if (exponent < -4 || exponent >= 16) {
		gkhi_line_bytes(line, text, 1);
		if (count > 1) {
			gkhi_line_char(line, '.');
			gkhi_line_bytes(line, text + 1, (size_t)count - 1);
		}
		gkhi_line_text(line, exponent < 0 ? "e-" : "e+");
		if (exponent < 0)
			exponent = -exponent;
		if (exponent < 10)
			gkhi_line_char(line, '0');
		gkhi_line_unsigned(line, (uint64_t)exponent);
		return;
	}
	if (point <= 0)
		gkhi_line_text(line, "0.");
	for (int i = point; i < 0; i++)
		gkhi_line_char(line, '0');
	for (int i = 0; i < count || i < point; i++) {
		if (i && i == point)
			gkhi_line_char(line, '.');
		gkhi_line_char(line, i < count ? text[i] : '0');
	}
}

/* A finite number that is not 0: @fraction_bits explicit bits, @exponent as stored. */
static void nonzero(struct gkhi_line *line, uint64_t fraction, int exponent, int fraction_bits, int bias)
{
	struct number n;
	char text[20];
	int count, point, power = exponent - bias - fraction_bits, bits;
	bool edge = !fraction && exponent > 1;

	if (exponent)
		fraction |= 1ull << fraction_bits;
	else
		power++;
	bits = 64 - __builtin_clzll(fraction);
	number_set(&n, fraction, power, edge);
	point = scale(&n, bits, power);
	count = make_digits(&n, text);
	put(line, text, count, point);
}

static void any(struct gkhi_line *line, uint64_t bits, int fraction_bits, int exponent_bits)
{
	int bias = (1 << (exponent_bits - 1)) - 1;
	int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
	uint64_t fraction = bits & ((1ull << fraction_bits) - 1);

	if (bits >> (fraction_bits + exponent_bits))
		gkhi_line_char(line, '-');
	if (exponent == (1 << exponent_bits) - 1)
		gkhi_line_text(line, fraction ? "nan" : "inf");
	else if (!exponent && !fraction)
		gkhi_line_char(line, '0');
	else
		nonzero(line, fraction, exponent, fraction_bits, bias);
}

void gkhi_line_f64(struct gkhi_line *line, uint64_t bits)
{
	any(line, bits, 52, 11);
}

void gkhi_line_f32(struct gkhi_line *line, uint32_t bits)
{
	any(line, bits, 23, 8);
}
