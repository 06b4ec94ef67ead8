// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * location.c - parser of operand locations (location.h has the grammar). Pure:
 * any context, any number at once.
 */
#include "location.h"

#include "port.h"

struct cursor {
	const char *text;
	size_t len;
	size_t at;
};

static int peek(const struct cursor *c)
{
	return c->at < c->len ? (unsigned char)c->text[c->at] : 0;
}

static bool take(struct cursor *c, char wanted)
{
	if (peek(c) != wanted)
		return false;
	c->at++;
	return true;
}

static bool is_name_char(int ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' ||
	       ch == '.';
}

static int digit_of(int ch, unsigned int base)
{
	int d = -1;

	if (ch >= '0' && ch <= '9')
		d = ch - '0';
	else if (ch >= 'a' && ch <= 'f')
		d = ch - 'a' + 10;
	else if (ch >= 'A' && ch <= 'F')
		d = ch - 'A' + 10;
	return d < (int)base ? d : -1;
}

/* -2^63 to 2^64 - 1; what is above 2^63 - 1 keeps its bits. */
static enum gkhi_location_error parse_number(struct cursor *c, int64_t *out)
{
	bool negative = take(c, '-');
	unsigned int base = 10;
	uint64_t value = 0;
	size_t digits = 0;
	int d;

	if (peek(c) == '0' && c->at + 1 < c->len && (c->text[c->at + 1] == 'x' || c->text[c->at + 1] == 'X')) {
		base = 16;
		c->at += 2;
	}
	for (; (d = digit_of(peek(c), base)) >= 0; c->at++, digits++) {
		if (value > (~(uint64_t)0 - d) / base)
			return GKHI_LOCATION_RANGE;
		value = value * base + d;
	}
	if (digits == 0)
		return GKHI_LOCATION_NUMBER;
	if (negative && value > (uint64_t)1 << 63)
		return GKHI_LOCATION_RANGE;
	*out = (int64_t)(negative ? 0 - value : value);
	return GKHI_LOCATION_OK;
}

/* Displacements: what an instruction can hold. */
static enum gkhi_location_error parse_displacement(struct cursor *c, int64_t *out)
{
	size_t start = c->at;
	enum gkhi_location_error error = parse_number(c, out);

	if (error == GKHI_LOCATION_OK && *out != (int32_t)*out) {
		c->at = start;
		return GKHI_LOCATION_RANGE;
	}
	return error;
}

static const char gkhi_reg_names[16][6][5] = {
	/* 8, 4, 2, 1 bytes, high byte */
	{ "rax", "eax", "ax", "al", "ah" },
	{ "rcx", "ecx", "cx", "cl", "ch" },
	{ "rdx", "edx", "dx", "dl", "dh" },
	{ "rbx", "ebx", "bx", "bl", "bh" },
	{ "rsp", "esp", "sp", "spl" },
	{ "rbp", "ebp", "bp", "bpl" },
	{ "rsi", "esi", "si", "sil" },
	{ "rdi", "edi", "di", "dil" },
	{ "r8", "r8d", "r8w", "r8b", "", "r8l" },
	{ "r9", "r9d", "r9w", "r9b", "", "r9l" },
	{ "r10", "r10d", "r10w", "r10b", "", "r10l" },
	{ "r11", "r11d", "r11w", "r11b", "", "r11l" },
	{ "r12", "r12d", "r12w", "r12b", "", "r12l" },
	{ "r13", "r13d", "r13w", "r13b", "", "r13l" },
	{ "r14", "r14d", "r14w", "r14b", "", "r14l" },
	{ "r15", "r15d", "r15w", "r15b", "", "r15l" },
};

static const uint8_t gkhi_reg_sizes[6] = { 8, 4, 2, 1, 1, 1 };

static bool name_is(const char *text, size_t len, const char *name)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (name[i] != text[i])		/* also at the NUL of a shorter name */
			return false;
	return len > 0 && name[len] == '\0';
}

static bool find_general(const char *text, size_t len, struct gkhi_location *loc)
{
	unsigned int reg, form;

	for (reg = 0; reg < 16; reg++) {
		for (form = 0; form < 6; form++) {
			if (!name_is(text, len, gkhi_reg_names[reg][form]))
				continue;
			loc->kind = GKHI_LOCATION_REG;
			loc->reg = reg;
			loc->reg_size = gkhi_reg_sizes[form];
			loc->reg_shift = form == 4 ? 8 : 0;
			return true;
		}
	}
	return false;
}

static bool find_xmm(const char *text, size_t len, struct gkhi_location *loc)
{
	unsigned int n = 0;
	size_t i;

	if (len < 4 || len > 5 || text[0] != 'x' || text[1] != 'm' || text[2] != 'm')
		return false;
	if (len == 5 && text[3] == '0')
		return false;
	for (i = 3; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (text[i] - '0');
	}
	if (n > 31)
		return false;
	loc->kind = GKHI_LOCATION_XMM;
	loc->reg = n;
	loc->reg_size = 16;
	return true;
}

/* A register's name; @base: inside parentheses, where only addresses may stand. */
static enum gkhi_location_error parse_register(struct cursor *c, bool base, struct gkhi_location *loc)
{
	size_t start = c->at;
	bool percent = take(c, '%');
	const char *name = c->text + c->at;
	size_t len = 0;

	while (is_name_char(peek(c))) {
		c->at++;
		len++;
	}
	if (base && name_is(name, len, "rip")) {
		loc->reg = GKHI_REG_RIP;
		loc->reg_size = 8;
		return GKHI_LOCATION_OK;
	}
	if (find_general(name, len, loc) && !(base && loc->reg_size != 8))
		return GKHI_LOCATION_OK;
	if (!base && find_xmm(name, len, loc))
		return GKHI_LOCATION_OK;
	c->at = start;
	return percent || base || len == 0 ? GKHI_LOCATION_REGISTER : GKHI_LOCATION_SYMBOL;
}

static enum gkhi_location_error parse_base(struct cursor *c, struct gkhi_location *loc)
{
	enum gkhi_location_error error;

	c->at++;				/* the parenthesis */
	error = parse_register(c, true, loc);
	if (error != GKHI_LOCATION_OK)
		return error;
	loc->kind = GKHI_LOCATION_MEM;
	return take(c, ')') ? GKHI_LOCATION_OK : GKHI_LOCATION_SYNTAX;
}

static enum gkhi_location_error parse_start(struct cursor *c, struct gkhi_location *loc)
{
	size_t start = c->at;
	bool dollar = take(c, '$');
	int ch = peek(c);
	enum gkhi_location_error error;

	if (ch == '(' && !dollar)
		return parse_base(c, loc);
	if (ch == '-' || (ch >= '0' && ch <= '9')) {
		error = parse_number(c, &loc->value);
		if (error != GKHI_LOCATION_OK)
			return error;
		if (dollar || peek(c) != '(')
			return GKHI_LOCATION_OK;	/* kind IMM is 0 */
		if (loc->value != (int32_t)loc->value) {
			c->at = start;
			return GKHI_LOCATION_RANGE;
		}
		return parse_base(c, loc);
	}
	if (dollar)
		return is_name_char(ch) ? GKHI_LOCATION_SYMBOL : GKHI_LOCATION_NUMBER;
	if (ch != '%' && !is_name_char(ch))
		return GKHI_LOCATION_SYNTAX;
	return parse_register(c, false, loc);
}

static enum gkhi_location_error parse_step(struct cursor *c, struct gkhi_location *loc)
{
	bool deref = peek(c) == '>';
	int64_t disp;
	enum gkhi_location_error error;

	if (loc->n_steps == GKHI_LOCATION_STEPS)
		return GKHI_LOCATION_LONG;
	c->at++;
	error = parse_displacement(c, &disp);
	if (error != GKHI_LOCATION_OK)
		return error;
	if (deref)
		loc->deref |= 1u << loc->n_steps;
	loc->step[loc->n_steps++] = (int32_t)disp;
	return GKHI_LOCATION_OK;
}

static enum gkhi_location_error parse_bits(struct cursor *c, unsigned int size, struct gkhi_location *loc)
{
	size_t start = c->at;
	int64_t shift, width;
	enum gkhi_location_error error;

	c->at++;				/* the hash */
	error = parse_number(c, &shift);
	if (error != GKHI_LOCATION_OK)
		return error;
	if (!take(c, ':'))
		return GKHI_LOCATION_SYNTAX;
	error = parse_number(c, &width);
	if (error != GKHI_LOCATION_OK)
		return error;
	if (shift < 0 || width < 1 || shift > 63 || width > 64 || shift + width > 8 * (int64_t)size) {
		c->at = start;
		return GKHI_LOCATION_BITS;
	}
	loc->shift = (uint8_t)shift;
	loc->width = (uint8_t)width;
	return GKHI_LOCATION_OK;
}

static enum gkhi_location_error parse_all(struct cursor *c, unsigned int size, struct gkhi_location *loc)
{
	enum gkhi_location_error error;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return GKHI_LOCATION_SIZE;
	if (c->len == 0)
		return GKHI_LOCATION_EMPTY;
	error = parse_start(c, loc);
	while (error == GKHI_LOCATION_OK && (peek(c) == '>' || peek(c) == '+'))
		error = parse_step(c, loc);
	if (error == GKHI_LOCATION_OK && peek(c) == '#')
		error = parse_bits(c, size, loc);
	if (error == GKHI_LOCATION_OK && c->at != c->len)
		error = GKHI_LOCATION_SYNTAX;
	return error;
}

enum gkhi_location_error gkhi_location_parse(const char *text, size_t len, unsigned int size,
					     struct gkhi_location *loc, size_t *column)
{
	struct gkhi_location parsed = { 0 };
	struct cursor c = { text, len, 0 };
	enum gkhi_location_error error = parse_all(&c, size, &parsed);

	if (column)
		*column = c.at;
	if (error == GKHI_LOCATION_OK)
		*loc = parsed;
	return error;
}

const char *gkhi_location_error_text(enum gkhi_location_error error)
{
	static const char *const texts[GKHI_N_LOCATION_ERRORS] = {
		[GKHI_LOCATION_OK] = "no error",
		[GKHI_LOCATION_EMPTY] = "the location is empty",
		[GKHI_LOCATION_REGISTER] = "no such register",
		[GKHI_LOCATION_NUMBER] = "a number is wanted here",
		[GKHI_LOCATION_RANGE] = "the number is too large",
		[GKHI_LOCATION_SYMBOL] = "a symbol, which only the linker knew",
		[GKHI_LOCATION_SYNTAX] = "wanted '>', '+', '#' or the end here",
		[GKHI_LOCATION_LONG] = "more than 12 steps",
		[GKHI_LOCATION_BITS] = "the bit-field lies outside the value",
		[GKHI_LOCATION_SIZE] = "the value's size is not 1, 2, 4 or 8",
	};

	if ((unsigned int)error >= GKHI_N_LOCATION_ERRORS)
		return "unknown error";
	return texts[error];
}
