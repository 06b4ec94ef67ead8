// SPDX-License-Identifier: MIT
/*
 * harness_log.c - gkhi_dispatch() of the matrix: every event becomes a line. Event
 * side: general registers only, and no libc.
 */
#include "harness_log.h"

static char text[1 << 16];
static size_t used;

static void put(char ch)
{
	if (used < sizeof(text) - 1)
		text[used++] = ch;
}

static void put_text(const char *s, size_t max)
{
	while (max-- && *s)
		put(*s++);
}

static void put_hex(uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	int shift = 60;

	while (shift && !(value >> shift & 15))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		put(digits[value >> shift & 15]);
}

static uint64_t get(const void *from, unsigned int size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | ((const uint8_t *)from)[size];
	return value;
}

static void put_elements(const uint8_t *from, unsigned int size, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (i)
			put(',');
		put_hex(get(from + (size_t)i * size, size));
	}
}

static void put_field(const struct gkhi_field *f, const uint64_t *frame, const uint64_t **tail)
{
	const uint8_t *fixed = (const uint8_t *)frame;

	put(' ');
	put_text(f->name, 99);
	put('=');
	if (f->type == GKHI_T_STRING)
		put_text((const char *)*(*tail)++, f->max);
	else if (f->offset == GKHI_NO_OFFSET)
		put_elements((const uint8_t *)*(*tail)++, f->size,
			     f->len_offset == GKHI_NO_OFFSET ? f->max : (uint32_t)get(fixed + f->len_offset, 4));
	else
		put_elements(fixed + f->offset, f->size, f->max ? f->max : 1);
}

void gkhi_dispatch(struct gkhi_hook *hook, const uint64_t *frame)
{
	const struct gkhi_event *event = hook->priv;
	const uint64_t *tail = frame + event->fixed_words;
	uint16_t i;

	put_text(event->name, 99);
	for (i = 0; i < event->n_fields; i++)
		put_field(&event->fields[i], frame, &tail);
	put('\n');
}

/* None: every operand is the program's own. */
void gkhi_faulted(struct gkhi_hook *hook, uint64_t n)
{
	(void)hook;
	(void)n;
	put_text(" faulted", 99);
}

const char *harness_log(void)
{
	text[used] = '\0';
	return text;
}

void harness_log_clear(void)
{
	used = 0;
}
