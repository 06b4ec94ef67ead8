// SPDX-License-Identifier: MIT
/*
 * detour_fast.c - the detour of an event that is a fixed part alone, or with one
 * string behind it: the sequence of sequence.h, written out with the operands where
 * this pad has them. Control lock held.
 *
 *   skip the red zone, save rax (and the flags where they are live), rdx, rsi, rdi
 *   rsi = stream, rdi = next commit word, rdx = record, rax = anything
 *   scalars first: they may be in registers that the string's copy needs
 *   restore, jump behind the pad
 *   slow: restore, go on into the generic detour
 *
 * Only compact streams: a route of another class has no cpus for this one, so its
 * events go the slow way, as those of every other backend do.
 */
#include <gkhi/channel.h>

#include "detour_code.h"
#include "sequence.h"

enum { RAX = 0, RDX = 2, RSP = 4, RSI = 6, RDI = 7 };

/* An instruction with one register and one register or memory operand. */
struct insn {
	uint8_t prefix;			/* 0x66 or 0 */
	uint8_t escape;			/* 0x0f or 0 */
	uint8_t opcode;
	bool wide;			/* 64-bit operand */
	bool byte;			/* a byte register: needs a REX to be sil and not dh */
};

static void insn_head(struct code *c, const struct insn *in, unsigned int reg, unsigned int rm)
{
	uint8_t rex = (uint8_t)(0x40 | in->wide << 3 | (reg >> 3) << 2 | rm >> 3);

	if (in->prefix)
		code_u8(c, in->prefix);
	if (rex != 0x40 || in->byte)
		code_u8(c, rex);
	if (in->escape)
		code_u8(c, in->escape);
	code_u8(c, in->opcode);
}

static void insn_reg(struct code *c, const struct insn *in, unsigned int reg, unsigned int rm)
{
	insn_head(c, in, reg, rm);
	code_u8(c, (uint8_t)(0xc0 | (reg & 7) << 3 | (rm & 7)));
}

static void insn_mem(struct code *c, const struct insn *in, unsigned int reg, unsigned int base, int32_t disp)
{
	bool small = disp == (int8_t)disp;

	insn_head(c, in, reg, base);
	code_u8(c, (uint8_t)((small ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7)));
	if ((base & 7) == RSP)
		code_u8(c, 0x24);
	if (small)
		code_u8(c, (uint8_t)disp);
	else
		code_u32(c, (uint32_t)disp);
}

static void insn_rip(struct code *c, const struct insn *in, unsigned int reg, uintptr_t target)
{
	insn_head(c, in, reg, 0);
	code_u8(c, (uint8_t)((reg & 7) << 3 | 5));
	code_rel32(c, target);
}

/* -- where the program's registers are meanwhile */

static bool is_scratch(unsigned int reg)
{
	return reg == RAX || reg == RDX || reg == RSI || reg == RDI;
}

static int32_t slot_of(const struct detour *d, unsigned int reg)
{
	switch (reg) {
	case RDI:
		return 0;
	case RSI:
		return 8;
	case RDX:
		return 16;
	default:				/* RAX, above the flags */
		return d->flags_live ? 32 : 24;
	}
}

static int32_t rsp_distance(const struct detour *d)
{
	return DETOUR_RED_ZONE + (d->flags_live ? 40 : 32);
}

static void save(struct code *c, const struct detour *d)
{
	if (d->flags_live)
		code_save_flags(c);
	else
		CODE(c, "\x48\x8d\x64\x24\x80\x50");	/* lea -128(%rsp),%rsp; push %rax */
	CODE(c, "\x52\x56\x57");			/* push %rdx, %rsi, %rdi */
	if (d->string_words)
		detour_string_save(c);
}

static void restore(struct code *c, const struct detour *d)
{
	if (d->string_words)
		detour_string_restore(c);
	CODE(c, "\x5f\x5e\x5a");			/* pop %rdi, %rsi, %rdx */
	if (d->flags_live)
		code_restore_flags(c);
	else
		CODE(c, "\x58\x48\x8d\xa4\x24\x80\x00\x00\x00");	/* pop %rax; lea 128(%rsp),%rsp */
}

/* -- operands */

/* The load that fills rax with a value of @arg, extended when the field is wider. */
static struct insn load_insn(const struct detour_arg *arg)
{
	switch (arg->load) {
	case 1:
		return (struct insn){ .escape = 0x0f, .opcode = arg->is_signed ? 0xbe : 0xb6,
				      .wide = arg->is_signed, .byte = true };
	case 2:
		return (struct insn){ .escape = 0x0f, .opcode = arg->is_signed ? 0xbf : 0xb7,
				      .wide = arg->is_signed };
	case 4:
		return (struct insn){ .opcode = arg->is_signed ? 0x63 : 0x8b, .wide = arg->is_signed };
	default:
		return (struct insn){ .opcode = 0x8b, .wide = true };
	}
}

static void load_register(struct code *c, const struct detour *d, const struct detour_arg *arg)
{
	struct insn load = load_insn(arg);
	unsigned int reg = arg->loc.reg;

	if (reg == RSP)				/* the whole of it: a width is the store's matter */
		insn_mem(c, &(struct insn){ .opcode = 0x8d, .wide = true }, RAX, RSP, rsp_distance(d));
	else if (is_scratch(reg))
		insn_mem(c, &load, RAX, RSP, slot_of(d, reg));
	else
		insn_reg(c, &load, RAX, reg);
}

static void load_memory(struct code *c, const struct detour *d, const struct detour_arg *arg)
{
	struct insn load = load_insn(arg);
	unsigned int base = arg->loc.reg;
	int64_t disp = arg->loc.value;

	if (base == GKHI_REG_RIP) {
		insn_rip(c, &load, RAX, d->resume + (uintptr_t)disp);
		return;
	}
	if (base == RSP)
		disp += rsp_distance(d);
	if (disp != (int32_t)disp)
		c->failed = true;
	if (is_scratch(base)) {
		insn_mem(c, &(struct insn){ .opcode = 0x8b, .wide = true }, RAX, RSP, slot_of(d, base));
		base = RAX;
	}
	insn_mem(c, &load, RAX, base, (int32_t)disp);
}

static void store_register(struct code *c, const struct detour_arg *arg, unsigned int reg, int32_t disp)
{
	struct insn store = { .opcode = 0x89 };

	store.opcode = arg->size == 1 ? 0x88 : 0x89;
	store.byte = arg->size == 1;
	store.prefix = arg->size == 2 ? 0x66 : 0;
	store.wide = arg->size == 8;
	insn_mem(c, &store, reg, RDX, disp);
}

static void store_vector(struct code *c, const struct detour_arg *arg, int32_t disp)
{
	/* movq and movd to memory; match_scalar() has made the sizes equal */
	struct insn store = { .prefix = 0x66, .escape = 0x0f, .opcode = arg->size == 8 ? 0xd6 : 0x7e };

	insn_mem(c, &store, arg->loc.reg, RDX, disp);
}

static void load_immediate(struct code *c, const struct detour_arg *arg)
{
	uint64_t value = (uint64_t)arg->loc.value;
	unsigned int unused = 64 - 8u * arg->load;

	value <<= unused;
	value = arg->is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
	if (value == (uint32_t)value) {
		CODE(c, "\xb8");			/* mov $imm32,%eax */
		code_u32(c, (uint32_t)value);
	} else {
		CODE(c, "\x48\xb8");			/* movabs $imm64,%rax */
		code_u64(c, value);
	}
}

/* rax = the operand; anywhere but in a vector register */
static void load_operand(struct code *c, const struct detour *d, const struct detour_arg *arg)
{
	switch (arg->loc.kind) {
	case GKHI_LOCATION_IMM:
		load_immediate(c, arg);
		break;
	case GKHI_LOCATION_MEM:
		load_memory(c, d, arg);
		break;
	default:
		load_register(c, d, arg);
	}
}

/* Can the value be stored from where it is? */
static bool is_at_hand(const struct detour_arg *arg)
{
	return arg->loc.kind == GKHI_LOCATION_REG && !is_scratch(arg->loc.reg) && arg->loc.reg != RSP &&
	       arg->size <= arg->load && !arg->is_bool;
}

static void copy_operand(struct code *c, const struct detour *d, const struct detour_arg *arg)
{
	int32_t disp = 8 + arg->offset;		/* behind the header word */

	if (arg->loc.kind == GKHI_LOCATION_XMM) {
		store_vector(c, arg, disp);
		return;
	}
	if (is_at_hand(arg)) {
		store_register(c, arg, arg->loc.reg, disp);
		return;
	}
	load_operand(c, d, arg);
	if (arg->is_bool)
		CODE(c, "\x48\x85\xc0\x0f\x95\xc0");	/* test %rax,%rax; setne %al */
	store_register(c, arg, RAX, disp);
}

/* Words that fields do not fill are zero in between. */
static void clear_gaps(struct code *c, const struct detour *d)
{
	unsigned int word, i;

	for (word = 0; word < d->fixed_words; word++) {
		unsigned int filled = 0;

		for (i = 0; i < d->n_args; i++)
			if (d->arg[i].offset / 8u == word)
				filled += d->arg[i].size;
		if (filled == 8)
			continue;
		insn_mem(c, &(struct insn){ .opcode = 0xc7, .wide = true }, 0, RDX, (int32_t)(8 + 8 * word));
		code_u32(c, 0);
	}
}

/* -- the sequence */

static void hook_insn(struct code *c, const struct detour *d, const struct insn *in, unsigned int reg,
		      unsigned int field)
{
	insn_rip(c, in, reg, (uintptr_t)d->hook + field);
}

/* rsi = stream, rdi = commit word, rax and rdx = clock */
static void find_stream(struct code *c, const struct detour *d)
{
	hook_insn(c, d, &(struct insn){ .opcode = 0x8b, .wide = true }, RSI, SEQ_HOOK_ROUTE);
	CODE(c, "\x64\x8b\x3c\x25");			/* mov %fs:cpu,%edi */
	code_u32(c, (uint32_t)(gkhi_rseq_offset + SEQ_RSEQ_CPU));
	CODE(c, "\x0f\x31");				/* rdtsc */
	CODE(c, "\x3b\x3e\x0f\x83");			/* cmp n_cpus[compact](%rsi),%edi; jae */
	code_slow(c);
	CODE(c, "\x48\x8b\x74\xfe\x40"			/* mov cpu(%rsi,%rdi,8),%rsi */
		"\x48\x8b\x3e"				/* mov commit(%rsi),%rdi */
		"\x39\x56\x08\x0f\x86");		/* cmp %edx,deadline(%rsi); jbe */
	code_slow(c);
}

/* Bytes to be left in the packet: a string's last store may be a word longer than what it may need. */
static uint32_t room(const struct detour *d)
{
	return 8u * (1u + d->fixed_words) + (d->string_words ? 8u * (1u + d->string_words) : 0);
}

/* rdi = next commit word, with the fixed part; rdx = the record, its header written. */
static void take_record(struct code *c, const struct detour *d)
{
	CODE(c, "\x48\xc1\xe2\x30"			/* shl $48,%rdx */
		"\x48\xc1\xe0\x10"			/* shl $16,%rax */
		"\x48\x09\xd0");			/* or %rdx,%rax */
	hook_insn(c, d, &(struct insn){ .opcode = 0x0b, .wide = true }, RAX, SEQ_HOOK_HEADER);
	insn_mem(c, &(struct insn){ .opcode = 0x8d }, RDX, RDI, (int32_t)room(d));	/* lea room(%rdi),%edx */
	CODE(c, "\x31\xfa"				/* xor %edi,%edx */
		"\x3b\x56\x0c\x0f\x83");		/* cmp subbuf_size(%rsi),%edx; jae */
	code_slow(c);
	hook_insn(c, d, &(struct insn){ .opcode = 0x03, .wide = true }, RDI, SEQ_HOOK_STEP);
	CODE(c, "\x89\xfa\x48\x8d\x94\x16");		/* mov %edi,%edx; lea data(%rsi,%rdx),%rdx */
	code_u32(c, (uint32_t)(SEQ_RC_DATA - 8 * d->fixed_words));
	CODE(c, "\x48\x89\x02");			/* mov %rax,(%rdx) */
}

static void count_hit(struct code *c, const struct detour *d)
{
	hook_insn(c, d, &(struct insn){ .escape = 0x0f, .opcode = 0xb7 }, RAX, SEQ_HOOK_COUNTER);
	CODE(c, "\x48\xff\x84\xc6");			/* incq hits(%rsi,%rax,8) */
	code_u32(c, (uint32_t)SEQ_RC_HITS);
}

_Static_assert(SEQ_ROUTE_CPU == 0x40 && SEQ_RC_COMMIT == 0 && SEQ_RC_DEADLINE == 8 && SEQ_RC_SUBBUF == 12,
	       "the instructions above");
_Static_assert(GKHI_STREAM_COMPACT == 0, "n_cpus[compact](%rsi)");

/* What the kernel reads when it interrupts the sequence (struct rseq_cs). */
struct sequence_bounds {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

/* A string that may be anything is asked for page by page: by the generic detour. */
static bool operand_fits(const struct detour *d, const struct detour_arg *arg)
{
	if (arg->loc.n_steps || arg->loc.width || arg->loc.reg_shift)
		return false;
	if (arg->kind == DETOUR_STRING)
		return d->trusted && arg->loc.kind != GKHI_LOCATION_XMM;
	if (arg->kind != DETOUR_SCALAR)
		return false;
	if (arg->loc.kind == GKHI_LOCATION_XMM)
		return arg->size == arg->load;
	/* The stack pointer is computed whole, not loaded by width. */
	return arg->loc.kind != GKHI_LOCATION_REG || arg->loc.reg != RSP || arg->load >= arg->size;
}

bool detour_fast_fits(const struct detour *d)
{
	unsigned int i;

	if (!gkhi_rseq_offset || gkhi_rseq_offset != (int32_t)gkhi_rseq_offset)
		return false;
	if (d->n_tails != !!d->string_words || d->fixed_words > GKHI_STUB_WORDS)
		return false;
	for (i = 0; i < d->n_args; i++)
		if (!operand_fits(d, &d->arg[i]))
			return false;
	return true;
}

static void copy_operands(struct code *c, const struct detour *d, uintptr_t string_data)
{
	const struct detour_arg *string = NULL;
	unsigned int i;

	for (i = 0; i < d->n_args; i++) {
		if (d->arg[i].kind == DETOUR_STRING)
			string = &d->arg[i];
		else
			copy_operand(c, d, &d->arg[i]);
	}
	if (!string)
		return;
	load_operand(c, d, string);
	insn_mem(c, &(struct insn){ .opcode = 0x8d, .wide = true }, RDX, RDX, 8 * (1 + d->fixed_words));
	detour_string_copy(c, d->string_words, string_data);
}

void detour_fast(struct code *c, const struct detour *d)
{
	struct sequence_bounds bounds = { 0 };
	uintptr_t string_data = code_here(c);
	uint8_t *at_bounds;
	unsigned int i;

	if (d->string_words)
		detour_string_data(c);
	at_bounds = c->at;
	code_put(c, &bounds, sizeof(bounds));
	c->entry = code_here(c);
	save(c, d);
	insn_rip(c, &(struct insn){ .opcode = 0x8d, .wide = true }, RAX, c->entry - sizeof(bounds));
	CODE(c, "\x64\x48\x89\x04\x25");		/* mov %rax,%fs:rseq_cs */
	code_u32(c, (uint32_t)(gkhi_rseq_offset + SEQ_RSEQ_CS));
	bounds.start = code_here(c);
	find_stream(c, d);
	take_record(c, d);
	clear_gaps(c, d);
	copy_operands(c, d, string_data);
	CODE(c, "\x48\x89\x3e");			/* mov %rdi,commit(%rsi): published */
	bounds.length = code_here(c) - bounds.start;
	count_hit(c, d);
	restore(c, d);
	CODE(c, "\xe9");				/* jmp behind the pad */
	code_rel32(c, d->resume);
	CODE(c, "\x0f\xb9\x3d");			/* ud1: the signature disassembles */
	code_u32(c, SEQ_RSEQ_SIG);
	bounds.abort = code_here(c);
	for (i = 0; i < c->n_slow; i++)
		code_land(c, c->slow[i]);
	restore(c, d);				/* and on into the generic detour */
	if (!c->failed)
		memcpy(at_bounds, &bounds, sizeof(bounds));
}
