// SPDX-License-Identifier: MIT
/*
 * lookup.c - real code with hooks that stay off: a hash table of strings. Built with
 * and without LOOKUP_HOOKED and run under callgrind (disabled.sh); the difference in
 * instructions, divided by the hooks that were passed, is what a hook costs.
 *
 * Usage: lookup OPERATIONS; prints "hooks passed".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LOOKUP_HOOKED
#include LOOKUP_HEADER
#define HOOK_ENTRY(key, len) gkhi_lookup_entry(key, len)
#define HOOK_PROBE(index, hash) gkhi_lookup_probe(index, hash)
#define HOOK_EXIT(uses, hash) gkhi_lookup_exit(uses, hash)
#else
#define HOOK_ENTRY(key, len) do { } while (0)
#define HOOK_PROBE(index, hash) do { } while (0)
#define HOOK_EXIT(uses, hash) do { } while (0)
#endif

#define SLOTS 2048
#define KEYS 1024

struct slot {
	uint64_t hash, uses;
};

struct table {
	uint64_t mask, used, probes;
	struct slot slots[SLOTS];
};

__attribute__((noinline)) uint64_t lookup(struct table *t, const char *key, size_t len)
{
	uint64_t hash = 1469598103934665603ull, index, probes = 0, uses;

	HOOK_ENTRY(key, len);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)key[i]) * 1099511628211ull;
	index = hash & t->mask;
	while (t->slots[index].hash && t->slots[index].hash != hash) {
		HOOK_PROBE(index, t->slots[index].hash);
		index = (index + 1) & t->mask;
		probes++;
	}
	if (!t->slots[index].hash) {
		t->slots[index].hash = hash;
		t->slots[index].uses = 0;
		t->used++;
	}
	uses = ++t->slots[index].uses;
	t->probes += probes;
	HOOK_EXIT(uses, hash);
	return uses;
}

int main(int argc, char **argv)
{
	static struct table table = {.mask = SLOTS - 1};
	static char keys[KEYS][16];
	static size_t lengths[KEYS];
	long n = argc > 1 ? atol(argv[1]) : 0;

	for (int i = 0; i < KEYS; i++)
		lengths[i] = (size_t)snprintf(keys[i], sizeof(keys[i]), "key-%d", i * i);
	for (long i = 0; i < n; i++)
		lookup(&table, keys[i * 7 & (KEYS - 1)], lengths[i * 7 & (KEYS - 1)]);
	printf("%llu\n", 2ull * (unsigned long long)n + (unsigned long long)table.probes);
	return 0;
}
