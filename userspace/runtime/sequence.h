/* SPDX-License-Identifier: MIT */
/*
 * sequence.h - the restartable sequence that writes one event into a ring: the
 * contract between the compiled stubs (stubs.S), the generated detours
 * (detour.c) and the slow path. Included from C and from assembler.
 *
 * Entry of a stub: rcx = struct gkhi_hook; on the stack saved rcx, return
 * address, frame. A stub preserves every register but rflags, and the red zone
 * is none of its business (the site skipped it).
 *
 * The sequence, for a record of W words (header word and fixed part):
 *
 *	    lea   cs, %rax ; mov %rax, %fs:8(rseq)     arm
 *	1:  route   = hook->route                      inside, so that after a membarrier
 *	    cpu     = %fs:4(rseq)                      (RSEQ) nobody writes to an old route
 *	    if (cpu >= route->n_cpus[class]) slow      unsigned: -1, -2 = no sequences
 *	    rc      = route->cpu[cpu]
 *	    rdtsc                                      here: see "Cost"
 *	    commit  = rc->commit
 *	    if (tsc >> 32 >= rc->deadline) slow        packet gets too old
 *	    next    = commit + hook->step              W * 8, and one event
 *	    if (((u32)next ^ (u32)commit) >= rc->subbuf_size) slow
 *	    data = (char *)rc + GKHI_RC_DATA + (u32)next + 8 - W * 8
 *	    data[0] = tsc << 16 | hook->header         compact
 *	    data[1..] = fixed part
 *	    rc->commit = next                          publishes; the last instruction
 *	2:  hits[hook->counter]++
 *
 *  S1 Nothing between 1 and 2 leaves the section but by a jump to the slow path;
 *     no call, no system call, rsp does not move.
 *  S2 The store of rc->commit is the only store that anyone ever looks at. All
 *     stores before it go behind the committed words, into the open packet's own
 *     sub-buffer: the next one may hold what a reader has not taken yet.
 *  S3 A slow exit happens with rc->commit unchanged. It restores the registers to
 *     the stub's entry state and jumps to gkhi_stub_generic with rcx = hook.
 *  S4 The abort handler (in front of it the 4 bytes RSEQ_SIG) does as a slow exit
 *     does: the slow path tries again, a bounded number of times, and then takes
 *     the fallback stream, so that a debugger's single steps get through.
 *     Therefore whatever the slow exit needs (the hook, the frame) must not be
 *     overwritten between 1 and 2.
 *  S5 The hook pointer stays in rcx, scratch registers are saved on the stack.
 *
 * Wide streams have two header words: u64 time, then u32 id, u32 tid. Streams
 * without a clock have one: the id.
 *
 * hits: one increment behind the section, so a thread that is moved to another
 * cpu between the two may meet another's increment there: the counter can fall
 * short by a few in a million, the commit words never do.
 *
 * Cost: rdtsc lets nothing behind it start before it is done, so the loads that
 * find the stream go in front of it, and the load of the commit word, which the
 * event before has just stored, behind it. Measured for 2 x u64, ratio to rdtsc +
 * bare stores (7.8 ns): rdtsc first 1.47, in front of the stream's address 1.25,
 * there 1.20, behind the commit word 1.38, last 1.61. The prefetch of the line
 * that is written next but a few is worth 0.05.
 */
#ifndef GKHI_SEQUENCE_H
#define GKHI_SEQUENCE_H

/* struct gkhi_hook */
#define SEQ_HOOK_ROUTE		8
#define SEQ_HOOK_STEP		16
#define SEQ_HOOK_COUNTER	26
#define SEQ_HOOK_STRING		39
#define SEQ_HOOK_HEADER		56
/* struct gkhi_route */
#define SEQ_ROUTE_CPU		64
/* struct gkhi_ring_cpu */
#define SEQ_RC_COMMIT		0
#define SEQ_RC_DEADLINE		8
#define SEQ_RC_SUBBUF		12
#define SEQ_RC_DATA		4096
#define SEQ_RC_HITS		-32768
/* struct rseq, from %fs:gkhi_rseq_offset */
#define SEQ_RSEQ_CPU		4
#define SEQ_RSEQ_CS		8
#define SEQ_RSEQ_SIG		0x53053053
/* struct port_sequence, struct port_copy */
#define SEQ_COMMIT		0
#define SEQ_EXPECTED		8
#define SEQ_NEXT		16
#define SEQ_STAMP		24
#define SEQ_STAMPED		32
#define SEQ_COPIES		40
#define SEQ_N_COPIES		48
#define SEQ_CPU			52
#define SEQ_COPY_TO		0
#define SEQ_COPY_FROM		8
#define SEQ_COPY_BYTES		16
#define SEQ_COPY_KIND		20
#define SEQ_COPY_SIZE		24

/* Fixed parts of up to so many words have a stub of their own; with one string behind them. */
#define GKHI_STUB_WORDS		16
#define GKHI_STUB_STRING_WORDS	8

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* Distance of this thread's struct rseq from the thread pointer; 0: no sequences in this process. */
extern ptrdiff_t gkhi_rseq_offset;
#endif

#endif
