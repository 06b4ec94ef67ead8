// SPDX-License-Identifier: MIT
/*
 * control.c - the control file: hook table, channel table, requests.
 *
 *   who                             writes                      against
 *   the process, control lock held  all but @request, @batch    readers in other processes
 *   one requester, flock held       @batch, @batch_size, then @request (release)
 *
 * The head stays mapped at one place for ever; the table behind it is mapped anew
 * when it grows (doubling). A reader that sees @n_hooks above what it mapped maps
 * again. Our older mappings stay: fault.c may be about to count in one of them.
 */
#include <string.h>

#include "core.h"
#include "file.h"
#include "process.h"
#include "sys.h"
#include "strbuf.h"

#include <gkhi/gkhi.h>
#include <linux/futex.h>

#define GKHI_REQUEST_MAX	(16u << 20)

int gkhi_control_reserve(uint32_t n)
{
	struct gkhi_control *c = gkhi_process.control;
	uint32_t capacity = c->hooks_capacity ? c->hooks_capacity : 64;
	char path[GKHI_PATH_MAX];
	void *table;
	int err;

	while (capacity < n)
		capacity *= 2;
	if (capacity == c->hooks_capacity)
		return 0;
	gkhi_process_path(path, "control");
	err = file_map_grown(path, c->hooks_offset, c->hooks_offset + capacity * sizeof(*gkhi_process.hooks), &table);
	if (err)
		return err;
	PORT_STORE_RELEASE(gkhi_process.hooks, table);
	PORT_STORE_RELEASE(c->hooks_capacity, capacity);
	return 0;
}

static void copy_name(char *to, size_t size, const char *from)
{
	struct strbuf t = sb_into(to, size);

	sb_str(&t, from);
}

static void write_channels(struct gkhi_control_hook *row, const struct gkhi_hook_info *info)
{
	char names[sizeof(row->channels)];
	struct strbuf t = sb_into(names, sizeof(names));

	for (uint32_t i = 0; i < info->n_channels; i++) {
		if (i)
			sb_char(&t, ',');
		sb_str(&t, info->channels[i]->config.name);
	}
	if (strcmp(row->channels, names))
		memcpy(row->channels, names, sizeof(names));
}

/* A row for an entry that has none yet: names come first, the count last. */
static struct gkhi_control_hook *new_row(const struct gkhi_hook_info *info)
{
	struct gkhi_control *c = gkhi_process.control;
	struct gkhi_control_hook *row;

	if (gkhi_control_reserve(c->n_hooks + 1))
		return NULL;	/* not listed; it works all the same */
	row = &gkhi_process.hooks[c->n_hooks];
	copy_name(row->name, sizeof(row->name), info->name);
	row->layout = info->layout;
	row->stability = info->event ? info->event->stability : GKHI_PRIVATE;
	PORT_STORE_RELEASE(*info->slot, c->n_hooks + 1);
	return row;
}

void port_hook_changed(struct gkhi_hook_entry *entry)
{
	struct gkhi_control *c = gkhi_process.control;
	struct gkhi_control_hook *row;
	struct gkhi_hook_info info;

	if (!c)
		return;
	gkhi_core_describe(entry, &info);
	row = *info.slot ? &gkhi_process.hooks[*info.slot - 1] : new_row(&info);
	if (!row)
		return;
	row->hits = info.hits;
	row->lost = info.lost;
	row->n_keys = info.n_keys;
	row->n_pads = info.n_pads;
	row->state = (uint8_t)info.state;
	row->effective = (uint8_t)info.effective;
	row->why = (uint8_t)info.why;
	row->states = info.states;
	row->gone = info.gone;
	write_channels(row, &info);
	PORT_STORE_RELEASE(row->id, info.id);
	if (*info.slot > c->n_hooks)
		PORT_STORE_RELEASE(c->n_hooks, *info.slot);
}

void port_hook_switched(uint32_t slot, uint8_t state, uint8_t effective, uint8_t why)
{
	struct gkhi_control_hook *row;

	if (!gkhi_process.control || slot > gkhi_process.control->n_hooks)
		return;
	row = &gkhi_process.hooks[slot - 1];
	row->state = state;
	row->effective = effective;
	row->why = why;
}

static void write_channel(struct gkhi_control_channel *row, struct gkhi_channel *ch)
{
	struct gkhi_channel_stats st = { 0 };

	if (strcmp(row->name, ch->config.name))
		copy_name(row->name, sizeof(row->name), ch->config.name);
	copy_name(row->backend, sizeof(row->backend), ch->config.backend);
	copy_name(row->target, sizeof(row->target), ch->config.target);
	row->mode = ch->config.mode;
	row->stream_class = ch->config.stream_class;
	row->subbuf_size = ch->config.subbuf_size;
	row->n_subbufs = ch->config.n_subbufs;
	row->users = ch->users;
	row->open = ch->route != NULL;
	if (row->open && ch->backend)
		ch->backend->stats(ch, &st);
	row->events = st.events;
	memcpy(row->lost, st.lost, sizeof(row->lost));
}

void port_channels_changed(void)
{
	struct gkhi_control *c = gkhi_process.control;
	uint32_t n = 0;

	if (!c)
		return;
	for (struct gkhi_channel *ch = gkhi_core_channels(); ch && n < GKHI_CONTROL_CHANNELS; ch = ch->next)
		write_channel(&c->channels[n++], ch);
	PORT_STORE_RELEASE(c->n_channels, n);
}

/* -- requests */

/*
 * The batch as it is now: a copy, since the requester could write on. One that was
 * killed makes room for another, which begins by taking the size away: then there
 * is nothing to do.
 */
static int copy_batch(char **text, size_t *size)
{
	struct gkhi_control *c = gkhi_process.control;
	size_t n = PORT_LOAD_ACQUIRE(c->batch_size);
	char path[GKHI_PATH_MAX];
	long got;

	if (n > GKHI_REQUEST_MAX)
		return -E2BIG;
	*text = port_alloc(n + 2);
	if (!*text)
		return -ENOMEM;
	*size = n;
	if (n <= sizeof(c->batch)) {
		memcpy(*text, c->batch, n);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (PORT_READ_ONCE(c->batch_size) != n)
			*size = 0;
		return 0;
	}
	gkhi_process_path(path, "request");
	got = file_read(path, *text, n + 2);
	if (got == (long)n)
		return 0;
	port_free(*text, n + 2);
	return got < 0 ? (int)got : -EIO;
}

static int run_request(char *reply, size_t reply_size)
{
	struct strbuf t = sb_into(reply, reply_size);
	char *text;
	size_t size;
	int err = copy_batch(&text, &size);

	if (err) {
		sb_str(&t, "request: ");
		sb_errno(&t, -err);
		return err;
	}
	err = gkhi_batch_run(text, size, 0, reply, reply_size);
	port_free(text, size + 2);
	return err;
}

int gkhi_control_take(void)
{
	struct gkhi_control *c = gkhi_process.control;
	uint32_t request;

	if (!c)
		return 0;
	request = PORT_LOAD_ACQUIRE(c->request);
	if (request == c->done)
		return 0;
	c->status = run_request(c->reply, sizeof(c->reply));
	for (struct gkhi_hook_entry *e = gkhi_core_next(NULL); e; e = gkhi_core_next(e))
		port_hook_changed(e);
	port_channels_changed();
	PORT_STORE_RELEASE(c->done, request);
	sys_futex(&c->done, FUTEX_WAKE, INT32_MAX, NULL);
	return 1;
}

/* Signals stay out while the lock is held: their handlers may ask for it. */
static int run_locked(const char *batch, char *error, size_t size)
{
	const char *why = "";
	int err = port_start(&why);
	struct strbuf t;

	if (!err)
		return gkhi_batch_run(batch, strlen(batch), 0, error, size);
	t = sb_into(error, size);
	sb_str(&t, why);
	return err;
}

int gkhi_control(const char *batch, char *error, size_t size)
{
	char unused[256];
	uint64_t signals;
	int err;

	if (!batch)
		return -EINVAL;
	if (!error || !size) {
		error = unused;
		size = sizeof(unused);
	}
	if (gkhi_environment.off) {
		struct strbuf t = sb_into(error, size);

		sb_str(&t, "GKHI=off in the environment of this program");
		return -EPERM;
	}
	error[0] = 0;
	sys_block_signals(&signals);
	port_control_lock();
	err = run_locked(batch, error, size);
	port_control_unlock();
	sys_restore_signals(&signals);
	return err;
}

static int poll_locked(struct gkhi_control **seen)
{
	static bool failed;
	struct gkhi_control *c;
	const char *why = "";

	if (failed)
		return 0;
	if (port_start(&why)) {
		failed = true;		/* once: the loop goes on as if there were no gkhi */
		port_log(why);
		return 0;
	}
	c = gkhi_process.control;
	if (c->agent == GKHI_AGENT_NONE)
		c->agent = GKHI_AGENT_POLL;
	PORT_STORE_RELEASE(*seen, c);
	return gkhi_control_take();
}

int gkhi_poll(void)
{
	static struct gkhi_control *seen;
	struct gkhi_control *c = PORT_LOAD_ACQUIRE(seen);
	uint64_t signals;
	int done = 0;

	if (gkhi_environment.off)
		return 0;
	if (c && c == gkhi_process.control && PORT_READ_ONCE(c->request) == PORT_READ_ONCE(c->done))
		return 0;
	sys_block_signals(&signals);
	if (!port_control_trylock()) {
		done = poll_locked(&seen);
		port_control_unlock();
	}
	sys_restore_signals(&signals);
	return done;
}
