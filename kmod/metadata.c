// SPDX-License-Identifier: GPL-2.0-only
/*
 * metadata.c - the metadata of all channels: text that only grows, whole and
 * readable at any time. It begins with trace, clock and streams
 * (docs/format-trace.md); then come a block per event id and stream class.
 *
 *   call                     context
 *   port_event_declare       task, control lock held
 *   gkhi_metadata_copy       task
 */
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/uuid.h>
#include <linux/vmalloc.h>

#include "gkhi_core.h"

#define GKHI_METADATA_FIRST	(64u << 10)
#define GKHI_METADATA_MAX	(256u << 20)

static DEFINE_MUTEX(gkhi_metadata_lock);
static char *gkhi_metadata_text;
static size_t gkhi_metadata_room;

struct gkhi_metadata_state gkhi_metadata = {
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(gkhi_metadata.wait),
};
GKHI_EXPORT(gkhi_metadata);

static uuid_t gkhi_producer;
const u8 *const gkhi_uuid = gkhi_producer.b;
GKHI_EXPORT(gkhi_uuid);

/* Which ids have a block, per stream class: a bit each. Control lock. */
static DECLARE_BITMAP(gkhi_declared[GKHI_N_STREAM_CLASSES], GKHI_ID_MAX + 1);

/* ------------------------------------------------------------------------- text */

static int gkhi_metadata_grow(void)
{
	size_t room = gkhi_metadata_room ? 2 * gkhi_metadata_room : GKHI_METADATA_FIRST;
	char *text;

	if (room > GKHI_METADATA_MAX)
		return -EFBIG;
	text = vmalloc(room);
	if (!text)
		return -ENOMEM;
	if (gkhi_metadata.size)
		memcpy(text, gkhi_metadata_text, gkhi_metadata.size);
	vfree(gkhi_metadata_text);
	gkhi_metadata_text = text;
	gkhi_metadata_room = room;
	return 0;
}

/* What @write puts out is added whole, or not at all. */
static int gkhi_metadata_add(void (*write)(struct gkhi_text *t, const void *context), const void *context)
{
	int err = 0;

	mutex_lock(&gkhi_metadata_lock);
	for (;;) {
		struct gkhi_text t = {
			.buf = gkhi_metadata_text + gkhi_metadata.size,
			.size = gkhi_metadata_room - gkhi_metadata.size,
		};

		if (gkhi_metadata_text)
			write(&t, context);
		/* a text that fills its room to the last byte may have been cut */
		if (gkhi_metadata_text && t.len + 1 < t.size) {
			WRITE_ONCE(gkhi_metadata.size, gkhi_metadata.size + t.len);
			break;
		}
		err = gkhi_metadata_grow();
		if (err)
			break;
	}
	mutex_unlock(&gkhi_metadata_lock);
	if (!err)
		wake_up_all(&gkhi_metadata.wait);
	return err;
}

/**
 * gkhi_metadata_copy - read the metadata
 * @to: room for @size bytes
 * @size: of it
 * @at: offset to begin at
 *
 * Context: task, may sleep.
 * Return: number of bytes, 0 at the end.
 */
size_t gkhi_metadata_copy(void *to, size_t size, u64 at)
{
	mutex_lock(&gkhi_metadata_lock);
	size = at < gkhi_metadata.size ? min_t(u64, size, gkhi_metadata.size - at) : 0;
	if (size)
		memcpy(to, gkhi_metadata_text + at, size);
	mutex_unlock(&gkhi_metadata_lock);
	return size;
}
GKHI_EXPORT(gkhi_metadata_copy);

/* ------------------------------------------------------------------------- head */

#define GKHI_BOOT_ID	"/proc/sys/kernel/random/boot_id"

struct gkhi_clock_record {
	char boot_id[UUID_STRING_LEN + 1];
	uuid_t uuid;			/* of the clock: boot and kind */
	u64 frequency;
	s64 realtime_offset;		/* ns at tick 0 */
	s64 monotonic_offset;
};

static void gkhi_boot_id(struct gkhi_clock_record *c)
{
	struct file *file = filp_open(GKHI_BOOT_ID, O_RDONLY, 0);
	loff_t at = 0;

	if (!IS_ERR(file)) {
		kernel_read(file, c->boot_id, UUID_STRING_LEN, &at);
		filp_close(file, NULL);
	}
	if (uuid_parse(c->boot_id, &c->uuid)) {
		/* no procfs here: this boot cannot be told from others */
		c->uuid = uuid_null;
		snprintf(c->boot_id, sizeof(c->boot_id), "%pUb", &c->uuid);
	}
	if (!gkhi_clock_is_tsc)
		c->uuid.b[15] ^= 1;
}

/* Monotonic and real time at tick 0. */
static void gkhi_clock_record(struct gkhi_clock_record *c)
{
	u64 ticks, ns, monotonic;

	memset(c, 0, sizeof(*c));
	gkhi_boot_id(c);
	preempt_disable();
	ticks = gkhi_clock();
	monotonic = ktime_get_ns();
	preempt_enable();
	c->frequency = gkhi_clock_is_tsc ? (u64)tsc_khz * 1000 : NSEC_PER_SEC;
	ns = gkhi_clock_is_tsc ? mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, c->frequency) : monotonic;
	c->monotonic_offset = monotonic - ns;
	c->realtime_offset = c->monotonic_offset + ktime_to_ns(ktime_mono_to_real(0));
}

static void gkhi_text_signed(struct gkhi_text *t, s64 n)
{
	if (n < 0)
		gkhi_text_str(t, "-");
	gkhi_text_num(t, n < 0 ? -(u64)n : n);
}

static void gkhi_text_uuid(struct gkhi_text *t, const uuid_t *uuid)
{
	char text[UUID_STRING_LEN + 1];

	snprintf(text, sizeof(text), "%pUb", uuid);
	gkhi_text_str(t, text);
}

static const char gkhi_types[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n";

static const char gkhi_streams[] =
	"\ntypealias integer { size = 64; align = 8; signed = false; map = clock.gkhi.value; } := gkhi_ticks;\n\n"
	"struct gkhi_context {\n"
	"\tgkhi_ticks timestamp_begin;\n\tgkhi_ticks timestamp_end;\n"
	"\tuint64_t content_size;\n\tuint64_t packet_size;\n\tuint64_t packet_seq_num;\n"
	"\tuint64_t events_discarded;\n\tuint64_t count_begin;\n"
	"\tuint32_t cpu_id;\n\tuint32_t pid;\n\tuint32_t generation;\n\tuint32_t reserved;\n};\n\n"
	"stream {\n\tid = 0;\n\tpacket.context := struct gkhi_context;\n\tevent.header := struct {\n"
	"\t\tinteger { size = 16; align = 8; signed = false; } id;\n"
	"\t\tinteger { size = 48; align = 8; signed = false; map = clock.gkhi.value; } timestamp;\n"
	"\t} align(64);\n};\n\n"
	"stream {\n\tid = 1;\n\tpacket.context := struct gkhi_context;\n\tevent.header := struct {\n"
	"\t\tgkhi_ticks timestamp;\n\t\tuint32_t id;\n\t} align(64);\n"
	"\tevent.context := struct {\n\t\tuint32_t tid;\n\t};\n};\n\n"
	"stream {\n\tid = 2;\n\tpacket.context := struct gkhi_context;\n\tevent.header := struct {\n"
	"\t\tuint64_t id;\n\t} align(64);\n};\n\n";

/* Nothing but what needs no escape, in JSON or in TSDL. */
static void gkhi_text_host(struct gkhi_text *t)
{
	const char *s;

	for (s = init_uts_ns.name.nodename; *s; s++) {
		bool plain = *s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\' && *s != '*';

		gkhi_text_mem(t, plain ? s : "?", 1);
	}
}

static void gkhi_write_comment(struct gkhi_text *t, const struct gkhi_clock_record *c)
{
	gkhi_text_str(t, "/* CTF 1.8 */\n\n/* gkhi-trace {\"version\":1,\"uuid\":\"");
	gkhi_text_uuid(t, &gkhi_producer);
	gkhi_text_str(t, "\",\"clock\":{\"kind\":\"");
	gkhi_text_str(t, gkhi_clock_is_tsc ? "tsc" : "monotonic");
	gkhi_text_str(t, "\",\"boot_id\":\"");
	gkhi_text_str(t, c->boot_id);
	gkhi_text_str(t, "\",\"frequency\":");
	gkhi_text_num(t, c->frequency);
	gkhi_text_str(t, ",\"realtime_offset\":");
	gkhi_text_signed(t, c->realtime_offset);
	gkhi_text_str(t, ",\"monotonic_offset\":");
	gkhi_text_signed(t, c->monotonic_offset);
	gkhi_text_str(t, "},\"unrouted\":0,\"env\":{\"pid\":0,\"comm\":\"kernel\",\"boot_id\":\"");
	gkhi_text_str(t, c->boot_id);
	gkhi_text_str(t, "\",\"hostname\":\"");
	gkhi_text_host(t);
	gkhi_text_str(t, "\"}} */\n\n");
}

static void gkhi_write_clock(struct gkhi_text *t, const struct gkhi_clock_record *c)
{
	s64 seconds = div_s64(c->realtime_offset, NSEC_PER_SEC);
	s64 ns = c->realtime_offset - seconds * NSEC_PER_SEC;

	if (ns < 0) {
		ns += NSEC_PER_SEC;
		seconds--;
	}
	gkhi_text_str(t, "\nclock {\n\tname = \"gkhi\";\n\tuuid = \"");
	gkhi_text_uuid(t, &c->uuid);
	gkhi_text_str(t, "\";\n\tdescription = \"");
	gkhi_text_str(t, gkhi_clock_is_tsc ? "time stamp counter" : "CLOCK_MONOTONIC");
	gkhi_text_str(t, "\";\n\tfreq = ");
	gkhi_text_num(t, c->frequency);
	gkhi_text_str(t, ";\n\toffset_s = ");
	gkhi_text_signed(t, seconds);
	gkhi_text_str(t, ";\n\toffset = ");
	/* rounded up, so that the ticks convert back to the same nanosecond */
	gkhi_text_num(t, mul_u64_u64_div_u64(ns, c->frequency, NSEC_PER_SEC) + !!(ns && gkhi_clock_is_tsc));
	gkhi_text_str(t, ";\n\tabsolute = TRUE;\n};\n");
}

static void gkhi_write_head(struct gkhi_text *t, const void *context)
{
	const struct gkhi_clock_record *c = context;

	gkhi_write_comment(t, c);
	gkhi_text_str(t, gkhi_types);
	gkhi_text_str(t, "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	gkhi_text_uuid(t, &gkhi_producer);
	gkhi_text_str(t, "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n"
			 "\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n\t};\n};\n"
			 "\nenv {\n\ttracer_name = \"gkhi\";\n\thostname = \"");
	gkhi_text_host(t);
	gkhi_text_str(t, "\";\n\tprocname = \"kernel\";\n\tvpid = 0;\n\tboot_id = \"");
	gkhi_text_str(t, c->boot_id);
	gkhi_text_str(t, "\";\n};\n");
	gkhi_write_clock(t, c);
	gkhi_text_str(t, gkhi_streams);
}

/* ----------------------------------------------------------------------- events */

struct gkhi_declaration {
	const struct gkhi_event *event;
	u32 id;
	u32 stream_class;
};

/* The JSON without its "{", in a TSDL comment: a comment's end inside a string is spelt another way. */
static void gkhi_write_json(struct gkhi_text *t, const char *json)
{
	const char *end;

	if (*json == '{')
		json++;
	if (*json != '}')
		gkhi_text_str(t, ",");
	while ((end = strstr(json, "*/"))) {
		gkhi_text_mem(t, json, end + 1 - json);
		gkhi_text_str(t, "\\");
		json = end + 1;
	}
	gkhi_text_str(t, json);
}

static void gkhi_write_event(struct gkhi_text *t, const void *context)
{
	const struct gkhi_declaration *d = context;

	gkhi_text_str(t, "/* gkhi-event {\"id\":");
	gkhi_text_num(t, d->id);
	gkhi_write_json(t, d->event->json ? d->event->json : "{}");
	gkhi_text_str(t, " */\nevent { name = \"");
	gkhi_text_str(t, d->event->provider);
	gkhi_text_str(t, ":");
	gkhi_text_str(t, d->event->name);
	gkhi_text_str(t, "\"; id = ");
	gkhi_text_num(t, d->id);
	gkhi_text_str(t, "; stream_id = ");
	gkhi_text_num(t, d->stream_class);
	gkhi_text_str(t, "; loglevel = ");
	gkhi_text_num(t, d->event->loglevel);
	gkhi_text_str(t, "; fields := ");
	gkhi_text_str(t, d->event->ctf);
	gkhi_text_str(t, "; };\n");
}

int port_event_declare(const struct gkhi_event *event, uint32_t id, uint32_t stream_class)
{
	struct gkhi_declaration d = { event, id, stream_class };
	int err;

	if (!id || id > GKHI_ID_MAX || stream_class >= GKHI_N_STREAM_CLASSES || !event->ctf)
		return -EINVAL;
	if (test_bit(id, gkhi_declared[stream_class]))
		return 0;
	err = gkhi_metadata_add(gkhi_write_event, &d);
	if (err)
		return err;
	set_bit(id, gkhi_declared[stream_class]);
	WRITE_ONCE(gkhi_metadata.generation, gkhi_metadata.generation + 1);
	return 0;
}

int __init gkhi_metadata_init(void)
{
	struct gkhi_clock_record clock;

	generate_random_uuid(gkhi_producer.b);
	gkhi_clock_record(&clock);
	return gkhi_metadata_add(gkhi_write_head, &clock);
}

void gkhi_metadata_exit(void)
{
	vfree(gkhi_metadata_text);
}
