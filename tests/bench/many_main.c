// SPDX-License-Identifier: MIT
/*
 * many_main.c - switch thousands of hooks at once and time it.
 *
 * Prints lines for report.py. Every site runs before the first switch, and on a second
 * thread all the time, so that the code is hot and membarriers find somebody to interrupt.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gkhi/gkhi.h>

#include "many_list.h"

#define ROUNDS 15

static volatile int stop;

static void *run(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	while (!stop)
		for (int i = 0; i < N_MANY; i++)
			x = many_list[i](x);
	return (void *)(uintptr_t)x;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double control(const char *batch)
{
	char error[512];
	double begin = now_ms();
	int rc = gkhi_control(batch, error, sizeof(error));
	double end = now_ms();

	if (rc) {
		fprintf(stderr, "gkhi-bench-many: '%s': %s\n", batch, error);
		exit(1);
	}
	return end - begin;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return v[n / 2];
}

int main(void)
{
	double on[ROUNDS], off[ROUNDS], to_marker[ROUNDS], to_static[ROUNDS], both[2 * ROUNDS];
	double first_static, first_marker;
	pthread_t thread;

	control("channel main backend=ring subbuf_size=64K n_subbufs=4");
	for (int i = 0; i < N_MANY; i++)
		many_list[i]((uint64_t)i);
	pthread_create(&thread, NULL, run, NULL);
	first_static = control("many*:* +static");
	control("many*:* -");
	first_marker = control("many*:* +marker");
	control("many*:* -");
	for (int i = 0; i < ROUNDS; i++) {
		on[i] = both[2 * i] = control("many*:* +static");
		to_marker[i] = control("many*:* +marker");
		to_static[i] = control("many*:* +static");
		off[i] = both[2 * i + 1] = control("many*:* -");
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("user.switch_10k_ms %.4f ms -\n", median(both, 2 * ROUNDS));
	printf("user.switch_10k_on_ms %.4f ms -\n", median(on, ROUNDS));
	printf("user.switch_10k_off_ms %.4f ms -\n", median(off, ROUNDS));
	printf("user.switch_10k_to_marker_ms %.4f ms -\n", median(to_marker, ROUNDS));
	printf("user.switch_10k_to_static_ms %.4f ms -\n", median(to_static, ROUNDS));
	printf("user.switch_10k_first_static_ms %.4f ms -\n", first_static);
	printf("user.switch_10k_first_marker_ms %.4f ms -\n", first_marker);
	return 0;
}
