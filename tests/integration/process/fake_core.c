// SPDX-License-Identifier: MIT
/*
 * fake_core.c - a core without hooks under the real process side: a batch does
 * what is hardest on the thread that runs it, and says how many ran.
 *
 *   "trash"        leave nothing in vector and x87 registers, in errno, or in MXCSR
 *   "fail"         -EINVAL with three lines of error
 *   "length"       answer the length of the batch
 */
#include <stdlib.h>

#include "core.h"
#include "process.h"
#include "strbuf.h"

static unsigned int n_batches;

struct gkhi_hook_entry *gkhi_core_next(struct gkhi_hook_entry *entry)
{
	(void)entry;
	return NULL;
}

void gkhi_core_describe(const struct gkhi_hook_entry *entry, struct gkhi_hook_info *info)
{
	(void)entry;
	memset(info, 0, sizeof(*info));
}

struct gkhi_channel *gkhi_core_channels(void)
{
	return NULL;
}

int gkhi_core_forked(bool reopen)
{
	(void)reopen;
	return 0;
}

int port_start(const char **why)
{
	int err = gkhi_process_open();

	*why = gkhi_process.why;
	return err;
}

static void trash_registers(void)
{
	static const unsigned int mxcsr = 0x1f80 | 0x6000;	/* round to zero */

	errno = 4711;
	__asm__ volatile("ldmxcsr %0\n fninit\n fldpi\n fldpi\n fldpi\n"
			 "pcmpeqd %%xmm0,%%xmm0\n pcmpeqd %%xmm7,%%xmm7\n pcmpeqd %%xmm8,%%xmm8\n"
			 "pcmpeqd %%xmm15,%%xmm15\n" : : "m"(mxcsr)
			 : "xmm0", "xmm7", "xmm8", "xmm15", "st", "st(1)", "st(2)");
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroall" : : : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
				 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

int gkhi_batch_run(const char *text, size_t len, unsigned int flags, char *error, size_t error_size)
{
	struct strbuf t = sb_into(error, error_size);

	(void)flags;
	n_batches++;
	if (len == 4 && !memcmp(text, "fail", 4)) {
		sb_str(&t, "column 1: found 'fail', wanted a batch\nfail\n^");
		return -EINVAL;
	}
	if (len == 5 && !memcmp(text, "trash", 5))
		trash_registers();
	sb_str(&t, "batch ");
	sb_dec(&t, n_batches);
	sb_str(&t, " of ");
	sb_dec(&t, len);
	sb_str(&t, " bytes");
	return 0;
}

/* The real one puts vector registers back; nobody here has live ones. */
void port_call_saving_vectors(void (*fn)(void *a, void *b), void *a, void *b)
{
	fn(a, b);
}
