// SPDX-License-Identifier: MIT
/* Untouched source for the pass: nothing here knows of hooks. */
#include "truth.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum paint { RED, GREEN, BLUE };

struct inner {
	short pad;
	int value;
};

struct item {
	char label[12];
	struct inner inner;
	unsigned int narrow : 3;
	int straddle : 11;
	short grid[2][3];
	enum paint paint;
	uint16_t words[3];
};

struct box {
	struct item *item;
	double ratio;
	void *none;
};

static unsigned long total;
static const char *const colors[] = { "red", "green", "blue" };

__attribute__((noinline)) int twice(int n)
{
	return 2 * n;
}

static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, long j, struct inner *p, double l)
{
	int sum = a + b + c + d + e + f + g + h + i + (int)j + p->value;

	TRUTH("feat:many: a=%d b=%d c=%d d=%d e=%d f=%d g=%d h=%d i=%d j=%ld k=%d l=%g\n", a, b, c, d, e, f, g, h, i, j,
	      p->value, l);
	return sum;
}

struct link {
	struct inner *next;
};

static volatile int sink;

/* Without a marker the compiler may drop every store to these. */
static void stores(int n)
{
	struct inner local, *one = &local;
	struct link link, *outer = &link;
	char buffer[4];

	TRUTH("feat:stores: text=%c near=%d far=%d\n", 'a' + n % 26, n * 3, n * 3);
	buffer[0] = (char)('a' + n % 26);
	buffer[1] = 0;
	local.value = n * 3;
	link.next = one;
	sink = n;
	buffer[0] = 0;
	local.value = 0;
	link.next = NULL;
}

static unsigned int checksum(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	unsigned int sum = 0;
	size_t i;

	TRUTH("feat:bytes: data=");
	for (i = 0; i < size; i++) {
		TRUTH("%02x", bytes[i]);
		sum = sum * 31 + bytes[i];
	}
	TRUTH("\n");
	return sum;
}

static long handle(int count, signed char small, struct box *box, void *opaque)
{
	struct item copy = *box->item;
	const char *name = count & 1 ? "odd one" : "even one";
	float half = (float)count / 2;
	int odd = count & 5;
	int seen = 0;
	long sum = 0;
	int i;

	TRUTH("feat:entry: count=%d small=%d deep=%d label=%s narrow=%u straddle=%d cell=%d ratio=%g paint=%s total=%lu\n",
	      count, small, box->item->inner.value, box->item->label, box->item->narrow, box->item->straddle,
	      box->item->grid[1][2], box->ratio, colors[box->item->paint], total);
	total++;
	TRUTH("feat:locals: copied=%d bits=%u first=%u text=\"%s\" half=%g odd=%s which=77 words=[%u,%u,%u]\n", copy.inner.value,
	      copy.narrow, (unsigned char)copy.label[0], name, half, odd ? "true" : "false", copy.words[0], copy.words[1], copy.words[2]);
	seen = copy.inner.value;
	for (i = 0; i < count % 4; i++) {
		int result;

		TRUTH("feat:before: step=%d argument=%d\n", i, i + seen);
		result = twice(i + seen);
		TRUTH("feat:after: step=%d result=%d\n", i, result);
		sum += result;
	}
	if (odd > 3) {
		TRUTH("feat:leave: value=%ld seen=%d hidden=%d missing=(null)\n", -sum, seen, ((struct item *)opaque)->inner.value);
		return -sum;
	}
	sum += total;
	TRUTH("feat:leave: value=%ld seen=%d hidden=%d missing=(null)\n", sum, seen, ((struct item *)opaque)->inner.value);
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 8;
	struct item item = { "first", { 1, -7 }, 5, -300, { { 1, 2, 3 }, { 4, 5, 6 } }, GREEN, { 7, 8, 9 } };
	struct box box = { &item, 2.5, NULL };
	unsigned long sum = 0;
	int i;

	for (i = 0; i < rounds; i++) {
		sum += (unsigned long)handle(i, (signed char)(i - 3), &box, &item);
		item.inner.value += 1000 * i;
		item.narrow = (unsigned int)i & 7;
		item.straddle = -i;
		item.grid[1][2] = (short)(-i * 3);
		item.paint = (enum paint)(i % 3);
		item.label[0] = (char)('a' + i % 26);
		sum += (unsigned long)many(i, 1, 2, 3, 4, 5, 6, 7, i * 8, -9l * i, &item.inner, i / 8.0);
		stores(i);
		sum += checksum(item.label, (size_t)(i % 12));
		sum += (unsigned long)features_cxx(i);
	}
	printf("%lx\n", sum);
	return 0;
}
