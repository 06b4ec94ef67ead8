/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gkhi/abi.h - what the compiler leaves in an object file, and the descriptors
 * that genevent writes. Shared by generated code, the core, the clang pass and
 * every tool that reads ELF; C11, C++20 and kernel C.
 *
 * A hooked object file holds four sections:
 *
 *   gkhi_sites   one struct gkhi_record per marker pad ("the map"), variable
 *                size, 4-aligned. Written by the hook macros and by the clang
 *                pass, byte for byte the same. Read without DWARF.
 *   gkhi_keys    one struct gkhi_key per switchable jump (user space only; the
 *                kernel has its own __jump_table).
 *   gkhi_hooks   one struct gkhi_hook per hook name and object (user space:
 *                emitted from assembler in a COMDAT group, so that inline
 *                functions, templates, LTO and PIC all get exactly one; kernel:
 *                defined by the descriptor source).
 *   gkhi_events  one struct gkhi_event per declared event, from the descriptor
 *                source that genevent writes.
 *
 * In user space everything in the first three is self-relative: no dynamic
 * relocation, no text relocation, nothing for the loader to do.
 */
#ifndef GKHI_ABI_H
#define GKHI_ABI_H

#ifdef __KERNEL__
#include <linux/cache.h>
#include <linux/jump_label.h>
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ the map record */

#define GKHI_RECORD_MAGIC	0x6b47		/* "Gk", little endian */
#define GKHI_RECORD_VERSION	1
#define GKHI_PAD_LEN		5		/* one 5-byte nop */

/* gkhi_record.kind: where the pad stands. */
enum gkhi_site_kind {
	GKHI_SITE_MARKED = 0,		/* written in the source */
	GKHI_SITE_ENTRY = 1,
	GKHI_SITE_RETURN = 2,
	GKHI_SITE_BEFORE_CALL = 3,
	GKHI_SITE_AFTER_CALL = 4,
	GKHI_SITE_LINE = 5,
};

/* gkhi_record.origin: who wrote it. */
enum gkhi_site_origin {
	GKHI_ORIGIN_MACRO = 0,
	GKHI_ORIGIN_PASS = 1,
};

/* gkhi_record.flags */
#define GKHI_RECORD_BARE	0x01	/* no cold block: the pad is in the hot path */

/*
 * struct gkhi_record - fixed head of a map record.
 * @magic:   GKHI_RECORD_MAGIC
 * @version: GKHI_RECORD_VERSION
 * @flags:   GKHI_RECORD_*
 * @size:    bytes of the whole record, head and padding included
 * @layout:  layout hash of the event; 0 = unknown
 * @pad:     address of the pad, relative to the address of this field
 * @line:    source line
 * @padlen:  bytes of nop at the pad; 0: no pad, a place whose site loads the mode
 * @nargs:   number of arguments that follow
 * @kind:    enum gkhi_site_kind
 * @origin:  enum gkhi_site_origin
 *
 * Behind the head: three NUL-terminated strings (event as "provider:name",
 * source function or "", source file), then per argument
 *   u8 type, u8 size, name NUL, location NUL
 * then zero padding up to @size. The layout field is 4-aligned only: read it
 * with memcpy.
 *
 * type: 'u' unsigned, 's' signed, 'p' pointer (shown, never followed), 'f'
 * floating point (the bits, in a general or an xmm register), 'c' pointer to a
 * NUL-terminated string, 'b' pointer to bytes.
 * size: bytes of the value; for 'c' and 'b' bytes of one element.
 * location: $imm | %reg | %xmmN | disp(%base), then any number of
 *   >disp  add disp and dereference (fault-safe) | +disp  add only,
 *   then at most one #shift:width (bit-field).
 */
struct gkhi_record {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t size;
	uint32_t layout_lo;
	uint32_t layout_hi;
	int32_t pad;
	uint32_t line;
	uint8_t padlen;
	uint8_t nargs;
	uint8_t kind;
	uint8_t origin;
};

/* ------------------------------------------------------------- key and hook */

/* gkhi_hook.mode: what the cold block does; one load of it decides. */
enum gkhi_mode {
	GKHI_MODE_OFF = 0,	/* nothing is recorded: a late or gated thread */
	GKHI_MODE_CALL = 1,	/* call gkhi_hook.stub */
	GKHI_MODE_PAD = 2,	/* run through the marker pad */
};

/* Self-relative: the distance is from the field itself. */
static inline void *gkhi_relative(const int32_t *field)
{
	return (char *)(uintptr_t)field + *field;
}

#ifdef __KERNEL__

struct static_call_key;

/* Per cpu: what a hook did. */
struct gkhi_count {
	uint64_t hits;
	uint64_t lost;
};

/*
 * struct gkhi_key - the static key of a hook that has a jump somewhere; made by
 * gkhi.ko from the module's jump table, one per hook.
 */
struct gkhi_key {
	struct static_key *code;
	struct gkhi_hook *hook;
};

/*
 * struct gkhi_hook - a hook in one module; the descriptor source defines it
 * (GKHI_INSTANCE). Fields that user space has too mean the same.
 *
 * @stub:       what the core wants called; the static call follows it lazily
 * @count:      valid whenever @mode is not OFF
 * @n_jumps:    jumps that hang on @key
 * @call_key, @call_tramp: the static call; NULL for a bare marker
 * @call:       what the static call calls now
 */
struct gkhi_hook {
	void *stub;
	void *route;
	uint64_t step;
	uint16_t id;
	uint16_t counter;
	uint32_t mode;
	struct gkhi_count __percpu *count;
	uint64_t header;
	uint64_t layout;
	uint16_t fixed_words;
	uint8_t flags;
	uint8_t string_words;
	uint32_t n_jumps;
	/* second line: for switching */
	void *priv;
	const char *name;
	struct static_key_false key;
	struct static_call_key *call_key;
	void *call_tramp;
	void *call;
} __aligned(64);

static inline const char *gkhi_hook_name(const struct gkhi_hook *hook)
{
	return hook->name;
}

static inline void *gkhi_key_code(const struct gkhi_key *key)
{
	return key->code;
}

static inline const void *gkhi_key_target(const struct gkhi_key *key)
{
	return key->code;	/* anything but NULL */
}

static inline void *gkhi_key_hook(const struct gkhi_key *key)
{
	return key->hook;
}

#else

/*
 * struct gkhi_key - one 5-byte nop that can become a jump to @target.
 * All three are relative to the address of their own field.
 */
struct gkhi_key {
	int32_t code;
	int32_t target;
	int32_t hook;
	int32_t reserved;
};

/*
 * struct gkhi_hook - the writable head of a hook in one object (64 bytes).
 *
 * The assembler in gkhi/site_user.h, the stubs and the detours know these
 * offsets; GKHI_HOOK_* below name them, static assertions hold them.
 *
 * @stub:   where the hook's thunk jumps: rcx = this hook, on the stack saved
 *          rcx, return address, then the frame (see struct gkhi_event). Every
 *          register but rflags is preserved. Valid whenever @mode is not OFF.
 * @route:  struct gkhi_route of the channel(s); loaded inside the restartable
 *          sequence. Never NULL once registered.
 * @step:   what an event that is a fixed part alone adds to a ring's commit
 *          word: gkhi_commit_step(1 + fixed_words), set at registration
 * @id:     event id, given at registration
 * @counter: min(id, GKHI_RING_COUNTERS - 1): the hook's counters in a ring
 * @mode:   enum gkhi_mode
 * @name:   "provider:event", relative to the address of this field
 * @fixed_words: 8-byte words of the fixed part
 * @flags:  GKHI_HOOK_F_*
 * @string_words: gkhi_event_string_words(), stored before a stub that reads it
 * @layout: layout hash
 * @priv:   the core's own
 * @header: the id again, as the 64-bit word that a header is made with
 */
struct gkhi_hook {
	void *stub;
	void *route;
	uint64_t step;
	uint16_t id;
	uint16_t counter;
	uint32_t mode;
	int32_t name;
	uint16_t fixed_words;
	uint8_t flags;
	uint8_t string_words;
	uint64_t layout;
	void *priv;
	uint64_t header;
};

#define GKHI_HOOK_STUB		0
#define GKHI_HOOK_ROUTE		8
#define GKHI_HOOK_STEP		16
#define GKHI_HOOK_ID		24
#define GKHI_HOOK_COUNTER	26
#define GKHI_HOOK_MODE		28
#define GKHI_HOOK_FIXED_WORDS	36
#define GKHI_HOOK_STRING_WORDS	39
#define GKHI_HOOK_HEADER	56

static inline const char *gkhi_hook_name(const struct gkhi_hook *hook)
{
	return (const char *)gkhi_relative(&hook->name);
}

static inline void *gkhi_key_code(const struct gkhi_key *key)
{
	return gkhi_relative(&key->code);
}

static inline const void *gkhi_key_target(const struct gkhi_key *key)
{
	return gkhi_relative(&key->target);
}

static inline void *gkhi_key_hook(const struct gkhi_key *key)
{
	return gkhi_relative(&key->hook);
}

#endif

#define GKHI_HOOK_F_BARE	0x01	/* states: [marker] alone: no key, no call */
#define GKHI_HOOK_F_LOADED	0x02	/* sites load the mode, test and branch: nothing to patch */

/* -------------------------------------------------------- event descriptors */

enum gkhi_type {
	GKHI_T_UINT = 'u',
	GKHI_T_INT = 's',
	GKHI_T_BOOL = 'o',
	GKHI_T_PTR = 'p',
	GKHI_T_FLOAT = 'f',
	GKHI_T_ENUM = 'e',
	GKHI_T_FLAGS = 'g',
	GKHI_T_STRING = 'c',		/* tail: bytes up to and with the NUL */
	GKHI_T_BINARY = 'b',		/* tail: bytes, counted */
};

/* gkhi_field.form */
enum gkhi_form {
	GKHI_FORM_SCALAR = 0,		/* in the fixed part */
	GKHI_FORM_ARRAY = 1,		/* fixed number of elements */
	GKHI_FORM_SEQUENCE = 2,		/* counted, in the tail */
};

/* gkhi_field.show: how to print an integer or bytes. */
enum gkhi_show {
	GKHI_SHOW_DEC = 0,
	GKHI_SHOW_HEX = 1,
	GKHI_SHOW_IPV4 = 2,
	GKHI_SHOW_IPV6 = 3,
	GKHI_SHOW_MAC = 4,
	GKHI_SHOW_UUID = 5,
	GKHI_SHOW_CHAR = 6,
	GKHI_SHOW_OCT = 7,
};

struct gkhi_enumerator {
	const char *name;
	int64_t value;			/* flags: the mask */
};

/*
 * struct gkhi_field - one declared field, in declared order.
 *
 * Wire layout of a payload: the *fixed part* holds every scalar, every fixed
 * array of at most 16 bytes, and a u32 element count (at @len_offset) for each
 * sequence and binary, in declared order at natural alignment, padded to 8
 * bytes. Behind it the *tail*: strings, sequences, binaries and larger arrays
 * in declared order, each starting on an 8-byte boundary. The record ends on an
 * 8-byte boundary.
 */
struct gkhi_field {
	const char *name;
	uint8_t type;			/* enum gkhi_type */
	uint8_t size;			/* bytes of one element: 1, 2, 4, 8 */
	uint8_t form;			/* enum gkhi_form */
	uint8_t show;			/* enum gkhi_show */
	uint16_t offset;		/* in the fixed part; tail fields: 0xffff */
	uint16_t len_offset;		/* of the u32 count; 0xffff: none */
	uint32_t max;			/* elements at most: array length, sequence
					 * and binary bound, string bytes with NUL */
	uint32_t n_enumerators;
	const struct gkhi_enumerator *enumerators;
};

#define GKHI_NO_OFFSET	0xffff

enum gkhi_stability {
	GKHI_PRIVATE = 0,
	GKHI_EVOLVING = 1,
	GKHI_STABLE = 2,
};

/* gkhi_event.states: which of them are compiled in */
#define GKHI_HAS_STATIC		0x01
#define GKHI_HAS_MARKER		0x02

enum gkhi_state {
	GKHI_DISABLED = 0,
	GKHI_STATIC = 1,
	GKHI_MARKER = 2,
};

/*
 * Why a hook is not really in the state that was asked for, or how it is in it.
 * gkhi_why_text() (hooks/state.c) has the words that users see.
 */
enum gkhi_why {
	GKHI_WHY_OK = 0,		/* as asked */
	GKHI_WHY_NO_SITE = 1,		/* no site compiled in */
	GKHI_WHY_NO_STATIC = 2,		/* states: without static */
	GKHI_WHY_NO_MARKER = 3,		/* states: without marker */
	GKHI_WHY_NO_EVENT = 4,		/* no descriptor with this layout linked in */
	GKHI_WHY_NO_CHANNEL = 5,	/* the channel could not be opened */
	GKHI_WHY_TEXT_READONLY = 6,	/* text is write-protected */
	GKHI_WHY_SITE_CHANGED = 7,	/* somebody else patched the site */
	GKHI_WHY_NO_DETOUR = 8,		/* no room within 2 GiB, unreadable operand */
	GKHI_WHY_LOCKDOWN = 9,		/* lockdown forbids kprobes */
	GKHI_WHY_KPROBES_OFF = 10,
	GKHI_WHY_TRAP = 11,		/* not optimised: trap */
	GKHI_WHY_OPTIMISED = 12,	/* marker, jump optimised */
	GKHI_WHY_ARMING = 13,
	GKHI_WHY_TOO_MANY_IDS = 14,	/* more than GKHI_ID_MAX events */
	GKHI_WHY_NO_MEMORY = 15,
	GKHI_WHY_NO_PROBE = 16,
};

/*
 * struct gkhi_event - what genevent says of one event.
 *
 * The *frame* that a site hands to a stub is an array of u64: @fixed_words words
 * that are the fixed part as it goes to the buffer, then one pointer per tail
 * field, in order. Counts in the fixed part are already clamped to max.
 */
struct gkhi_event {
	uint32_t abi;			/* GKHI_ABI_VERSION */
	uint8_t states;			/* GKHI_HAS_* */
	uint8_t stability;		/* enum gkhi_stability */
	uint8_t default_state;		/* enum gkhi_state */
	uint8_t loglevel;		/* as syslog; 6 = info */
	uint64_t layout;
	const char *provider;
	const char *name;
	const char *doc;
	const char *message;		/* template, "dev={dev} len={len}" */
	const char *default_channel;
	const struct gkhi_field *fields;
	uint16_t n_fields;
	uint16_t fixed_words;
	uint16_t n_tails;
	uint16_t max_words;		/* of a whole payload, at most */
	const char *json;		/* the schema, one line, for readers */
	const char *ctf;		/* TSDL: the "struct { ... }" of the fields */
};

#define GKHI_ABI_VERSION	1

/*
 * Events whose only tail is one string have stubs that copy it. This many words
 * they may use for it: what is longer, or would have to be cut, is the slow
 * path's. 0: no such event.
 */
static inline uint8_t gkhi_event_string_words(const struct gkhi_event *event)
{
	uint16_t i;

	if (event->n_tails != 1)
		return 0;
	for (i = 0; i < event->n_fields; i++) {
		if (event->fields[i].offset != GKHI_NO_OFFSET)
			continue;
		if (event->fields[i].type != GKHI_T_STRING)
			return 0;
		return event->fields[i].max >= 255 * 8 ? 255 : (uint8_t)(event->fields[i].max / 8);
	}
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
