// SPDX-License-Identifier: MIT
/*
 * metadata.c - the metadata file: a block per event id and stream class, in the
 * file before the first event that needs it.
 *
 * The file is mapped with its space allocated: a block is copied, then counted
 * in gkhi_control.metadata_size. So it costs no system call, a process killed in
 * between leaves a block that does not count, and a process that has changed its
 * root directory can still declare.
 */
#include <string.h>

#include "core.h"
#include "file.h"
#include "process.h"
#include "sys.h"
#include "strbuf.h"

#define GKHI_METADATA_FIRST	(64u << 10)
#define GKHI_METADATA_MAX	(1ull << 30)

/* Which ids have a block, per stream class: a bit each. */
static uint64_t declared[GKHI_N_STREAM_CLASSES][(GKHI_ID_MAX + 64) / 64];

static bool is_declared(uint32_t id, uint32_t stream_class)
{
	return declared[stream_class][id / 64] >> id % 64 & 1;
}

int gkhi_metadata_open(void)
{
	struct gkhi_process *p = &gkhi_process;
	char path[GKHI_PATH_MAX];
	void *addr;
	int err;

	gkhi_process_path(path, "metadata");
	err = file_map_new(path, GKHI_METADATA_FIRST, &addr);
	if (err)
		return err;
	p->metadata = addr;
	p->metadata_capacity = GKHI_METADATA_FIRST;
	return 0;
}

void gkhi_metadata_forget(void)
{
	struct gkhi_process *p = &gkhi_process;

	if (p->metadata_capacity)
		sys_munmap(p->metadata, p->metadata_capacity);
	p->metadata = NULL;
	p->metadata_capacity = 0;
	memset(declared, 0, sizeof(declared));
}

static int grow(void)
{
	struct gkhi_process *p = &gkhi_process;
	size_t capacity = p->metadata_capacity * 2;
	char path[GKHI_PATH_MAX];
	void *addr;
	int err;

	if (!p->metadata_capacity)
		return -ENOENT;		/* no directory, or exit() has closed it */
	if (capacity > GKHI_METADATA_MAX)
		return -EFBIG;
	gkhi_process_path(path, "metadata");
	err = file_map_grown(path, 0, capacity, &addr);
	if (err)
		return err;
	sys_munmap(p->metadata, p->metadata_capacity);
	p->metadata = addr;
	p->metadata_capacity = capacity;
	return 0;
}

/* The JSON of the event without its "{", in a TSDL comment: a comment's end inside a string is spelt another way. */
static void write_json(struct strbuf *t, const char *json)
{
	if (*json == '{')
		json++;
	if (*json != '}')
		sb_char(t, ',');
	for (const char *end = strstr(json, "*/"); end; end = strstr(json, "*/")) {
		sb_bytes(t, json, (size_t)(end + 1 - json));
		sb_char(t, '\\');
		json = end + 1;
	}
	sb_str(t, json);
}

static void write_block(struct strbuf *t, const struct gkhi_event *event, uint32_t id, uint32_t stream_class)
{
	sb_str(t, "/* gkhi-event {\"id\":");
	sb_dec(t, id);
	write_json(t, event->json ? event->json : "{}");
	sb_str(t, " */\nevent { name = \"");
	sb_str(t, event->provider);
	sb_char(t, ':');
	sb_str(t, event->name);
	sb_str(t, "\"; id = ");
	sb_dec(t, id);
	sb_str(t, "; stream_id = ");
	sb_dec(t, stream_class);
	sb_str(t, "; loglevel = ");
	sb_dec(t, event->loglevel);
	sb_str(t, "; fields := ");
	sb_str(t, event->ctf);
	sb_str(t, "; };\n");
}

static int declare(const struct gkhi_event *event, uint32_t id, uint32_t stream_class)
{
	struct gkhi_process *p = &gkhi_process;
	struct gkhi_control *c = p->control;
	struct strbuf t = { .full = true };
	int err = 0;

	while (t.full) {
		if (p->metadata_capacity) {
			t = sb_into(p->metadata + c->metadata_size, p->metadata_capacity - c->metadata_size);
			write_block(&t, event, id, stream_class);
		}
		if (!t.full)
			break;
		if (p->metadata_capacity)	/* half a block: back to zeros */
			memset(p->metadata + c->metadata_size, 0, p->metadata_capacity - c->metadata_size);
		err = grow();
		if (err)
			return err;
	}
	PORT_STORE_RELEASE(c->metadata_size, (uint64_t)(t.at - p->metadata));
	PORT_STORE_RELEASE(c->generation, c->generation + 1);
	return 0;
}

int port_event_declare(const struct gkhi_event *event, uint32_t id, uint32_t stream_class)
{
	int err;

	if (!id || id > GKHI_ID_MAX || stream_class >= GKHI_N_STREAM_CLASSES || !event->ctf)
		return -EINVAL;
	if (is_declared(id, stream_class))
		return 0;
	err = gkhi_process_open();
	if (!err)
		err = declare(event, id, stream_class);
	if (!err)
		declared[stream_class][id / 64] |= 1ull << id % 64;
	return err;
}
