// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * printk.c - events as lines for people: the message template to stderr, syslog or
 * a file, at a bounded rate.
 *
 *   call                        context               may run against
 *   open, close                 control lock held     nothing of this channel
 *   write                       any, signal handlers  itself
 *   finalize, reset, stats      control lock held     write
 *
 * No lock: the rate limit is one word, a line is one write. What was not written
 * is counted, and the next line that is says how many.
 */
#include <gkhi/utf8.h>

#include "../backends.h"
#include "line.h"

#define LINE_MAX_BYTES	PORT_LINE_MAX
#define SECOND		1000000000ull

/*
 * @due: when the bucket will be full again, in ns of port_nanoseconds(). A message
 *       moves it by 1/rate seconds and is refused while it lies more than a second
 *       ahead: so a burst of up to @rate messages passes.
 * @unsaid: lost since the last line
 */
struct printk {
	struct port_sink *sink;
	uint64_t per_message;
	uint64_t due;
	uint64_t unsaid;
	uint64_t events;
	uint64_t lost[GKHI_N_LOST_REASONS];
};

static struct printk *printk_of(const struct gkhi_channel *ch)
{
	return ch->priv[0];
}

static int lose(struct printk *p, enum gkhi_lost_reason reason, int err)
{
	__atomic_fetch_add(&p->lost[reason], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->unsaid, 1, __ATOMIC_RELAXED);
	return err;
}

static bool may_pass(struct printk *p)
{
	uint64_t now, due, next;

	if (!p->per_message)
		return true;
	now = port_nanoseconds();
	due = PORT_READ_ONCE(p->due);
	do {
		next = (due > now ? due : now) + p->per_message;
		if (next > now + SECOND)
			return false;
	} while (!__atomic_compare_exchange_n(&p->due, &due, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/* A line that was cut inside of a UTF-8 character ends before it. */
static void drop_half_character(struct gkhi_line *line)
{
	const uint8_t *bytes = (const uint8_t *)line->buf;
	size_t at = line->len;

	while (at && line->len - at < 3 && (bytes[at - 1] & 0xc0) == 0x80)
		at--;
	if (at && bytes[at - 1] >= 0xc0 && !gkhi_utf8_length(bytes + at - 1, line->len - at + 1))
		line->len = at - 1;
}

/* "provider:event: message [12 lost before]" */
static void compose(struct gkhi_line *line, const struct gkhi_payload *payload, uint64_t lost)
{
	gkhi_line_text(line, payload->event->provider);
	gkhi_line_char(line, ':');
	gkhi_line_text(line, payload->event->name);
	gkhi_line_text(line, ": ");
	gkhi_line_message(line, payload);
	line->size = LINE_MAX_BYTES - 1;	/* the end has its room */
	if (line->cut) {
		drop_half_character(line);
		gkhi_line_text(line, "...");
	}
	if (lost) {
		gkhi_line_text(line, " [");
		gkhi_line_unsigned(line, lost);
		gkhi_line_text(line, " lost before]");
	}
	line->size++;
	gkhi_line_char(line, '\n');
}

static int printk_write(struct gkhi_channel *ch, const struct gkhi_payload *payload)
{
	struct printk *p = printk_of(ch);
	char buf[LINE_MAX_BYTES];
	struct gkhi_line line = { .buf = buf, .size = sizeof(buf) - 48 };
	uint64_t lost;

	if (!may_pass(p))
		return lose(p, GKHI_LOST_RATE, -EAGAIN);
	lost = __atomic_exchange_n(&p->unsaid, 0, __ATOMIC_RELAXED);
	compose(&line, payload, lost);
	if (port_sink_write(p->sink, payload->event->loglevel, buf, line.len)) {
		__atomic_fetch_add(&p->unsaid, lost, __ATOMIC_RELAXED);
		return lose(p, GKHI_LOST_IO, -EIO);
	}
	__atomic_fetch_add(&p->events, 1, __ATOMIC_RELAXED);
	return 0;
}

static int printk_open(struct gkhi_channel *ch)
{
	struct printk *p = port_alloc(sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	if (ch->config.rate)
		p->per_message = SECOND / ch->config.rate;
	err = port_sink_open(ch->config.target[0] ? ch->config.target : "stderr", &p->sink);
	if (err) {
		port_free(p, sizeof(*p));
		return err;
	}
	ch->priv[0] = p;
	return 0;
}

static void printk_close(struct gkhi_channel *ch)
{
	struct printk *p = printk_of(ch);

	port_sink_close(p->sink);
	port_free(p, sizeof(*p));
	ch->priv[0] = NULL;
}

/* A line that was written is out of our hands. */
static void printk_nothing(struct gkhi_channel *ch)
{
	(void)ch;
}

static void printk_stats(struct gkhi_channel *ch, struct gkhi_channel_stats *st)
{
	const struct printk *p = printk_of(ch);

	st->events = PORT_READ_ONCE(p->events);
	for (unsigned int i = 0; i < GKHI_N_LOST_REASONS; i++)
		st->lost[i] = PORT_READ_ONCE(p->lost[i]);
}

const struct gkhi_backend gkhi_backend_printk = {
	.name = "printk",
	.flags = GKHI_BACKEND_FOREIGN | GKHI_BACKEND_TEXT,
	.open = printk_open,
	.close = printk_close,
	.write = printk_write,
	.finalize = printk_nothing,
	.reset = printk_nothing,
	.stats = printk_stats,
};
