// SPDX-License-Identifier: MIT
/* harness.c - finds the sites of this program, switches and checks them (harness.h). */
#include "harness.h"

#include <gkhi/hook.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness_log.h"
#include "port_posix.h"

#define MAX_SITES	512

extern const char harness_stub[];

/* Detours are made with a fast sequence; a route without cpus sends it the slow way. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
ptrdiff_t gkhi_rseq_offset;
static uint64_t no_route[64];

static struct gkhi_module *module;
static struct port_patch keys[MAX_SITES], pads[MAX_SITES];
static const void *targets[MAX_SITES];
static size_t n_keys, n_pads, n_bare;
static int errors;

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("sites: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	errors++;
}

/* Called by the constructor that genevent writes. */
void gkhi_module_add(struct gkhi_module *m)
{
	module = m;
}

void gkhi_module_remove(struct gkhi_module *m)
{
	(void)m;
}

static const void *follow(const int32_t *field)
{
	const char *base = (const char *)field;

	__asm__("" : "+r"(base));
	return base + *field;
}

static const struct gkhi_event *event_of(const char *name)
{
	const struct gkhi_event *e = module->events_start;
	char full[128];

	for (; (const void *)e < module->events_stop; e++) {
		snprintf(full, sizeof(full), "%s:%s", e->provider, e->name);
		if (!strcmp(full, name))
			return e;
	}
	return NULL;
}

static struct gkhi_hook *hook_of(const char *name)
{
	struct gkhi_hook *h = module->hooks_start;

	for (; (void *)h < module->hooks_stop; h++)
		if (!strcmp(follow(&h->name), name))
			return h;
	return NULL;
}

static void find_hooks(void)
{
	struct gkhi_hook *h = module->hooks_start;

	for (; (void *)h < module->hooks_stop; h++) {
		const char *name = follow(&h->name);

		h->priv = (void *)event_of(name);
		h->stub = (void *)harness_stub;
		h->route = no_route;
		if (!h->priv)
			fail("hook '%s' has no event", name);
		else if (h->layout != ((struct gkhi_event *)h->priv)->layout)
			fail("hook '%s' has another layout", name);
		else if (h->fixed_words != ((struct gkhi_event *)h->priv)->fixed_words)
			fail("hook '%s' has %u words", name, h->fixed_words);
	}
}

static void find_keys(void)
{
	const struct gkhi_key *k = module->keys_start;

	for (; (const void *)k < module->keys_stop && n_keys < MAX_SITES; k++) {
		targets[n_keys] = follow(&k->target);
		keys[n_keys].addr = (void *)follow(&k->code);
		keys[n_keys].ours = targets[n_keys];
		n_keys++;
		if (((struct gkhi_hook *)follow(&k->hook))->stub != harness_stub)
			fail("key %zu does not name a hook", n_keys - 1);
	}
}

static void find_pad(const struct gkhi_record *r)
{
	const char *name = (const char *)(r + 1);
	struct gkhi_hook *hook = hook_of(name);
	enum gkhi_why why = GKHI_WHY_OK;
	const void *entry = NULL;
	int rc;

	if (!hook || !hook->priv) {
		fail("record of '%s' has no hook", name);
		return;
	}
	rc = port_detour(r, hook, hook->priv, &entry, &why);
	if (rc)
		fail("no detour for '%s', line %u: %d", name, r->line, rc);
	pads[n_pads].addr = (void *)follow(&r->pad);
	pads[n_pads].target = entry;
	n_bare += r->flags & GKHI_RECORD_BARE;
	n_pads++;
}

/* Linkers may pad between records of different objects, with zero. */
static void find_pads(void)
{
	const char *at = module->sites_start, *stop = module->sites_stop;

	while (at + sizeof(struct gkhi_record) <= stop && n_pads < MAX_SITES) {
		const struct gkhi_record *r = (const struct gkhi_record *)at;

		if (r->magic == 0) {
			at += 4;
			continue;
		}
		if (r->magic != GKHI_RECORD_MAGIC || r->version != GKHI_RECORD_VERSION || r->size > stop - at) {
			fail("a record %zu bytes into the map is none", (size_t)(at - (const char *)module->sites_start));
			return;
		}
		find_pad(r);
		at += r->size;
	}
}

static void patch(struct port_patch *patches, size_t n, const char *what)
{
	size_t i;

	if (port_patch(patches, n) == 0)
		return;
	for (i = 0; i < n; i++)
		if (patches[i].status)
			fail("%s %zu at %p: %d", what, i, patches[i].addr, patches[i].status);
}

static void switch_all(enum gkhi_mode mode)
{
	struct gkhi_hook *h = module->hooks_start;
	size_t i;

	for (; (void *)h < module->hooks_stop; h++)
		PORT_WRITE_ONCE(h->mode, mode);
	for (i = 0; i < n_keys; i++)
		keys[i].target = mode == GKHI_MODE_OFF ? NULL : targets[i];
	patch(keys, n_keys, "key");
}

static void switch_pads(int on)
{
	static const void *entries[MAX_SITES];
	size_t i;

	for (i = 0; i < n_pads; i++) {
		if (pads[i].target)
			entries[i] = pads[i].target;
		pads[i].target = on ? entries[i] : NULL;
		pads[i].ours = entries[i];
	}
	patch(pads, n_pads, "pad");
}

static char *copy_without(const char *log, const char *event)
{
	char *copy = calloc(1, strlen(log) + 1), *to = copy;

	while (*log) {
		const char *end = strchr(log, '\n') + 1;

		if (!event || strncmp(log, event, strlen(event))) {
			memcpy(to, log, (size_t)(end - log));
			to += end - log;
		}
		log = end;
	}
	return copy;
}

/* The log of one run; the sum must be @want. */
static char *run(uint64_t (*work)(void), uint64_t want, const char *state)
{
	uint64_t sum;

	harness_log_clear();
	sum = work();
	if (sum != want)
		fail("%s: the program computed %llx, wanted %llx", state, (unsigned long long)sum,
		     (unsigned long long)want);
	return copy_without(harness_log(), NULL);
}

static void equal(const char *state, const char *got, const char *want)
{
	size_t at = 0, line = 1;

	while (got[at] && got[at] == want[at])
		line += got[at++] == '\n';
	if (got[at] != want[at])
		fail("%s: differs in line %zu: '%.60s', wanted '%.60s'", state, line, got + at, want + at);
}

static void check_states(uint64_t (*work)(void), int print)
{
	uint64_t want = work();
	char *off, *calls, *marks, *again, *only_bare, *nothing, *hooked, *rest;

	off = run(work, want, "never on");
	switch_pads(1);
	only_bare = run(work, want, "pads on, keys off");
	switch_all(GKHI_MODE_PAD);
	marks = run(work, want, "marker");
	switch_all(GKHI_MODE_CALL);
	again = run(work, want, "static, pads still there");
	switch_pads(0);
	calls = run(work, want, "static");
	switch_all(GKHI_MODE_OFF);
	nothing = run(work, want, "off again");
	equal("never on", off, "");
	equal("off again", nothing, "");
	equal("static with pads", again, marks);
	hooked = copy_without(marks, "bare");
	equal("static", calls, hooked);
	if (n_bare && !strstr(only_bare, "bare x="))
		fail("bare pads said nothing: '%.60s'", only_bare);
	rest = copy_without(only_bare, "bare");
	equal("bare", rest, "");
	if (print)
		fputs(marks, stdout);
	free(off), free(calls), free(marks), free(again), free(only_bare), free(nothing), free(hooked), free(rest);
}

#ifdef GKHI_NO_PATCHING
static void check_unpatched(uint64_t (*work)(void), int print)
{
	uint64_t want = work();
	char *off = run(work, want, "never on"), *calls, *nothing;

	switch_all(GKHI_MODE_CALL);
	calls = run(work, want, "static");
	switch_all(GKHI_MODE_OFF);
	nothing = run(work, want, "off again");
	equal("never on", off, "");
	equal("off again", nothing, "");
	if (print)
		fputs(calls, stdout);
	free(off), free(calls), free(nothing);
}
#endif

int sites_check(uint64_t (*work)(void), int print)
{
	if (!module) {
		fail("no constructor called gkhi_module_add()");
		return 1;
	}
	if (&__rseq_offset)
		gkhi_rseq_offset = __rseq_offset;
	find_hooks();
#ifdef GKHI_NO_PATCHING
	check_unpatched(work, print);
	(void)check_states;
	(void)find_keys;
	(void)find_pads;
#else
	find_keys();
	find_pads();
	if (n_keys < 20 || n_pads < n_keys / 2 || !n_bare)
		fail("%zu keys, %zu pads, %zu bare", n_keys, n_pads, n_bare);
	check_states(work, print);
#endif
	fprintf(stderr, "sites: %zu keys, %zu pads, %d errors\n", n_keys, n_pads, errors);
	return errors != 0;
}
