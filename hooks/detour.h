/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * detour.h - the inside of marker detours.
 *
 *   file             side     what
 *   detour.c         control  port_detour(): one detour per pad, found again
 *   detour_match.c   control  the arguments of a record against the fields of an event
 *   detour_arena.c   control  memory near a module that is written here and executed there
 *   detour_code.c    control  the machine code
 *   detour_fast.c    control  the same for events that fit one restartable sequence
 *   detour_string.c  control  its string
 *   detour_entry.S   event    saves the registers, calls detour_run.c
 *   detour_run.c     event    interprets the locations, builds the frame, dispatches
 *   detour_read.c    event    reads that cannot fault
 *
 * Control side: under the control lock. Event side: any context in which user code
 * runs, signal handlers included; no lock, no libc, no vector registers.
 *
 * Invariants
 *  D1 a detour is complete before its address is handed out, and neither it nor its
 *     plan ever changes or goes away: a thread may be inside at any time;
 *  D2 it leaves every register, the flags and the red zone as they were;
 *  D3 it asks hook->route for every event, so that a switch gates it like a stub.
 */
#ifndef GKHI_DETOUR_H
#define GKHI_DETOUR_H

/* Offsets that detour_entry.S knows; detour_run.c holds them with assertions. */
#define DETOUR_RESUME		0
#define DETOUR_FLAGS		8
#define DETOUR_FRAME_BYTES	12
#define DETOUR_REGS_XMM		136	/* offsetof(struct gkhi_regs, xmm) */
#define DETOUR_CONTEXT_BYTES	288	/* of struct detour_context, 16-aligned */
#define DETOUR_RED_ZONE		128

#define DETOUR_F_XMM		0x1	/* some argument is in a vector register */

#ifndef __ASSEMBLER__

#include "location.h"
#include "port.h"

/* What an argument becomes. */
enum detour_kind {
	DETOUR_SCALAR = 0,	/* a value in the fixed part */
	DETOUR_ARRAY = 1,	/* bytes in the fixed part, from a pointer */
	DETOUR_COUNT = 2,	/* element count of the argument before or behind it, clamped */
	DETOUR_STRING = 3,	/* tail, up to the NUL */
	DETOUR_BYTES = 4,	/* tail, counted */
};

/*
 * struct detour_arg - one argument.
 * @load:   bytes to load at the location (pointers: 8)
 * @size:   bytes of one element in the event
 * @is_signed: extend the sign up to @size
 * @is_bool: only 0 or 1
 * @offset: in the fixed part; BYTES: of its count, or GKHI_NO_OFFSET when fixed
 * @tail:   index of the tail pointer
 * @max:    elements at most
 */
struct detour_arg {
	struct gkhi_location loc;
	uint8_t kind;
	uint8_t load;
	uint8_t size;
	bool is_signed;
	bool is_bool;
	uint16_t offset;
	uint16_t tail;
	uint32_t max;
};

/* struct detour - the plan of one pad. */
struct detour {
	uintptr_t resume;		/* behind the pad */
	uint32_t flags;			/* DETOUR_F_* */
	uint32_t frame_bytes;		/* a multiple of 16 */
	struct gkhi_hook *hook;
	const void *entry;
	struct detour *next;		/* same bucket */
	uint64_t key;			/* hash of the record */
	uint64_t layout;
	uint32_t bytes;			/* of this allocation */
	uint16_t fixed_words;
	uint16_t n_tails;
	uint8_t string_words;		/* gkhi_event_string_words() */
	bool flags_live;		/* the pad does not clobber them */
	bool trusted;			/* pointers are the program's own arguments: as a stub reads them */
	uint16_t n_args;
	struct detour_arg arg[];
};

/* What the event side works on; lies on the interrupted thread's stack. */
struct detour_context {
	struct gkhi_regs regs;
	uint64_t page;			/* the last one that was found readable */
	uint64_t faults;		/* arguments that could not be read */
	bool trusted;
};

/* detour_match.c: 0, or -EINVAL (does not fit the event), -ENOMEM. */
int detour_match(const struct gkhi_record *record, struct gkhi_hook *hook, const struct gkhi_event *event,
		 struct detour **out);

/* detour_arena.c */
struct detour_space {
	uint8_t *write;			/* where to write what... */
	uintptr_t exec;			/* ...is executed here */
	size_t size;
};
int detour_arena_get(uintptr_t near, size_t size, struct detour_space *space);	/* 0 or -errno */
void detour_arena_commit(const struct detour_space *space, size_t used);

/* detour_code.c: 0, or -ENOSPC (nothing within reach), -ENOMEM. */
int detour_code(struct detour *d);

/* detour_entry.S, detour_run.c, detour_read.c */
extern const char gkhi_detour_common[];
void gkhi_detour_run(struct detour *d, struct detour_context *context, uint64_t *frame);
int detour_read(void *dst, uint64_t src, size_t n, const struct gkhi_regs *regs);
bool detour_readable(uint64_t src, size_t n, struct detour_context *context);

#endif
#endif
