// SPDX-License-Identifier: MIT
/*
 * stubs.c - which stub serves which event, and what the assembler must be told
 * once: where this process's restartable sequences are and how large its vector
 * state is.
 *
 *   call                       context                may run against
 *   gkhi_stubs_init            constructor            nothing
 *   port_stub                  control lock held      everything
 *   gkhi_call_keeping_errno    event side             everything
 */
#include <cpuid.h>
#include <pthread.h>

#include <gkhi/channel.h>
#include <gkhi/hook.h>

#include "port_posix.h"
#include "sequence.h"
#include "stubs.h"

/* glibc 2.35 and newer; elsewhere the weak symbols are absent. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

extern const void *const gkhi_stub_fixed[GKHI_N_STREAM_CLASSES][GKHI_STUB_WORDS + 1];
extern const void *const gkhi_stub_string[GKHI_N_STREAM_CLASSES][GKHI_STUB_STRING_WORDS + 1];

uint32_t gkhi_xsave_size = 512;		/* fxsave's */
uint32_t gkhi_xsave_mask;

_Static_assert(offsetof(struct gkhi_hook, stub) == 0, "the thunk jumps to *(%rcx)");
_Static_assert(offsetof(struct gkhi_hook, route) == SEQ_HOOK_ROUTE, "SEQ_HOOK_ROUTE");
_Static_assert(offsetof(struct gkhi_hook, step) == SEQ_HOOK_STEP, "SEQ_HOOK_STEP");
_Static_assert(offsetof(struct gkhi_hook, counter) == SEQ_HOOK_COUNTER, "SEQ_HOOK_COUNTER");
_Static_assert(offsetof(struct gkhi_hook, string_words) == SEQ_HOOK_STRING, "SEQ_HOOK_STRING");
_Static_assert(offsetof(struct gkhi_hook, header) == SEQ_HOOK_HEADER, "SEQ_HOOK_HEADER");
_Static_assert(offsetof(struct gkhi_hook, mode) == GKHI_HOOK_MODE, "GKHI_HOOK_MODE");
_Static_assert(offsetof(struct gkhi_hook, fixed_words) == GKHI_HOOK_FIXED_WORDS, "GKHI_HOOK_FIXED_WORDS");
_Static_assert(sizeof(struct gkhi_hook) == 64, "gkhi/site_user.h emits 64 bytes");
_Static_assert(offsetof(struct gkhi_route, n_cpus) == 0, "the stubs compare with 4 * class(route)");
_Static_assert(offsetof(struct gkhi_route, cpu) == SEQ_ROUTE_CPU, "SEQ_ROUTE_CPU");
_Static_assert(offsetof(struct gkhi_ring_cpu, commit) == SEQ_RC_COMMIT, "SEQ_RC_COMMIT");
_Static_assert(offsetof(struct gkhi_ring_cpu, deadline) == SEQ_RC_DEADLINE, "SEQ_RC_DEADLINE");
_Static_assert(offsetof(struct gkhi_ring_cpu, subbuf_size) == SEQ_RC_SUBBUF, "SEQ_RC_SUBBUF");
_Static_assert(SEQ_RC_DATA == GKHI_RC_DATA && SEQ_RC_HITS == GKHI_RC_HITS, "SEQ_RC_*");
_Static_assert(offsetof(struct port_sequence, commit) == SEQ_COMMIT, "SEQ_COMMIT");
_Static_assert(offsetof(struct port_sequence, expected) == SEQ_EXPECTED, "SEQ_EXPECTED");
_Static_assert(offsetof(struct port_sequence, next) == SEQ_NEXT, "SEQ_NEXT");
_Static_assert(offsetof(struct port_sequence, stamp) == SEQ_STAMP, "SEQ_STAMP");
_Static_assert(offsetof(struct port_sequence, stamped) == SEQ_STAMPED, "SEQ_STAMPED");
_Static_assert(offsetof(struct port_sequence, copies) == SEQ_COPIES, "SEQ_COPIES");
_Static_assert(offsetof(struct port_sequence, n_copies) == SEQ_N_COPIES, "SEQ_N_COPIES");
_Static_assert(offsetof(struct port_sequence, cpu) == SEQ_CPU, "SEQ_CPU");
_Static_assert(offsetof(struct port_copy, to) == SEQ_COPY_TO, "SEQ_COPY_TO");
_Static_assert(offsetof(struct port_copy, from) == SEQ_COPY_FROM, "SEQ_COPY_FROM");
_Static_assert(offsetof(struct port_copy, bytes) == SEQ_COPY_BYTES, "SEQ_COPY_BYTES");
_Static_assert(offsetof(struct port_copy, kind) == SEQ_COPY_KIND, "SEQ_COPY_KIND");
_Static_assert(sizeof(struct port_copy) == SEQ_COPY_SIZE, "SEQ_COPY_SIZE");

/*
 * x87, SSE, AVX, AVX-512: what C code uses. AMX tiles, pkru and shadow stacks are
 * left alone: no C code of ours touches them, and tiles alone are 8 KiB.
 */
#define VECTOR_STATE	0xe7u
#define XSAVE_HEADER_END	576u

static void find_vector_state(void)
{
	unsigned int eax, ebx, ecx, edx, mask, size = XSAVE_HEADER_END;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
		return;
	__asm__ volatile("xgetbv" : "=a"(mask), "=d"(edx) : "c"(0));
	mask &= VECTOR_STATE;
	for (unsigned int i = 2; i < 8; i++) {
		if (!(mask & 1u << i) || !__get_cpuid_count(0xd, i, &eax, &ebx, &ecx, &edx))
			continue;
		if (ebx + eax > size)
			size = ebx + eax;
	}
	gkhi_xsave_size = size;
	gkhi_xsave_mask = mask;
}

static void child_of_fork(void)
{
	gkhi_tid = 0;
}

__attribute__((constructor)) static void gkhi_stubs_init(void)
{
	/* The size is 0 where the kernel or a tunable said no. */
	if (&__rseq_offset && &__rseq_size && __rseq_size)
		gkhi_rseq_offset = __rseq_offset;
	find_vector_state();
	(void)pthread_atfork(NULL, NULL, child_of_fork);
}

void gkhi_call_keeping_errno(void (*fn)(void *a, void *b), void *a, void *b)
{
	int saved = errno;

	fn(a, b);
	errno = saved;
}

const void *port_stub(const struct gkhi_event *event, const struct gkhi_route *route)
{
	unsigned int class = 0;

	if (!gkhi_rseq_offset)
		return gkhi_stub_generic;
	while (class < GKHI_N_STREAM_CLASSES && !route->n_cpus[class])
		class++;
	if (class == GKHI_N_STREAM_CLASSES)
		return gkhi_stub_generic;
	if (!event->n_tails && event->fixed_words <= GKHI_STUB_WORDS)
		return gkhi_stub_fixed[class][event->fixed_words];
	if (gkhi_event_string_words(event) && event->fixed_words <= GKHI_STUB_STRING_WORDS)
		return gkhi_stub_string[class][event->fixed_words];
	return gkhi_stub_generic;
}
