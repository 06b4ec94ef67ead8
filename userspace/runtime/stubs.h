/* SPDX-License-Identifier: MIT */
/*
 * stubs.h - what the stubs' C and assembler halves share, and the slow path's
 * thread id.
 */
#ifndef GKHI_STUBS_H
#define GKHI_STUBS_H

#include <stdint.h>

extern __thread uint32_t gkhi_tid __attribute__((tls_model("initial-exec")));

/* Called by port_call_saving_vectors(). */
void gkhi_call_keeping_errno(void (*fn)(void *a, void *b), void *a, void *b);

#endif
