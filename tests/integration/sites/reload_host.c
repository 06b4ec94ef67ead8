// SPDX-License-Identifier: MIT
/*
 * reload_host.c - loads and unloads two libraries 200 times while hooks are on, threads run through
 * its own sites and hooks are switched; then counts: every event of a library and of the host exactly
 * once, each with the value that belongs to it.
 */
#include <dlfcn.h>
#include <gkhi/exit.h>
#include <gkhi/gkhi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sites_inline.h"

#define ROUNDS		200
#define EVENTS		50
#define THREADS		2

static uint64_t from_a, from_b, from_host, from_strangers, bare;
static int stop;

static enum gkhi_exit_result count(void *context, const struct gkhi_event *event, const uint64_t *frame)
{
	uint64_t a = frame[0];
	uint64_t *counter = a >= 3000 && a < 4000 ? &from_host : a >= 2000 && a < 3000 ? &from_b :
			    a >= 1000 && a < 2000 ? &from_a : &from_strangers;

	(void)event;
	__atomic_fetch_add(context ? (uint64_t *)context : counter, 1, __ATOMIC_RELAXED);
	return GKHI_CONTINUE;
}

static void control(const char *batch)
{
	char error[512] = "";

	if (gkhi_control(batch, error, sizeof(error))) {
		fprintf(stderr, "reload: '%s': %s\n", batch, error);
		exit(1);
	}
}

static void attach(const char *hook, void *context)
{
	const struct gkhi_exit_spec spec = { .hook = hook, .handler = count, .context = context };
	struct gkhi_exit *handle;
	int rc = gkhi_exit_register(&spec, &handle);

	if (!rc)
		rc = gkhi_exit_arm(handle);
	if (rc) {
		fprintf(stderr, "reload: exit on %s: %d\n", hook, rc);
		exit(1);
	}
}

/* @arg: how many events this thread fired. */
static void *fire(void *arg)
{
	uint64_t *fired = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		gkhi_sites_num(3000 + *fired % 1000, 0);
		++*fired;
	}
	return NULL;
}

static void *work_in_thread(void *work)
{
	((uint64_t (*)(uint64_t))work)(EVENTS);
	return NULL;
}

static void use_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *work = library ? dlsym(library, "plugin_work") : NULL;
	pthread_t thread;

	if (!work) {
		fprintf(stderr, "reload: %s\n", dlerror());
		exit(1);
	}
	pthread_create(&thread, NULL, work_in_thread, work);
	work_in_thread(work);
	pthread_join(thread, NULL);
	if (dlclose(library)) {
		fprintf(stderr, "reload: %s\n", dlerror());
		exit(1);
	}
}

static int expect(const char *what, uint64_t got, uint64_t want)
{
	if (got == want)
		return 0;
	fprintf(stderr, "reload: %s: %llu events, wanted %llu\n", what, (unsigned long long)got,
		(unsigned long long)want);
	return 1;
}

int main(int argc, char **argv)
{
	static const char *const states[] = { "sites:num +static", "sites:num +marker" };
	static uint64_t fired[THREADS];
	pthread_t threads[THREADS];
	uint64_t host = 0;
	int i, bad = 0;

	if (argc != 3)
		return 2;
	control("sites:num +static; sites:bare +marker");
	attach("sites:num", NULL);
	attach("sites:bare", &bare);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fire, &fired[i]);
	for (i = 0; i < ROUNDS; i++) {
		control(states[i / 3 % 2]);
		use_plugin(argv[1 + i % 2]);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		host += fired[i];
	}
	/* Two runs of the work a round; the shared header's event and the library's own in each turn. */
	bad |= expect("library a", from_a, (uint64_t)ROUNDS / 2 * 2 * EVENTS * 2);
	bad |= expect("library b", from_b, (uint64_t)ROUNDS / 2 * 2 * EVENTS * 2);
	bad |= expect("host", from_host, host);
	bad |= expect("nobody", from_strangers, 0);
	bad |= expect("bare pads", bare, (uint64_t)ROUNDS * 2 * EVENTS);
	control("sites:* -");
	use_plugin(argv[1]);
	bad |= expect("library a when off", from_a, (uint64_t)ROUNDS / 2 * 2 * EVENTS * 2);
	printf("reload: %llu events of the host, %d loads\n", (unsigned long long)host, ROUNDS);
	return bad;
}
