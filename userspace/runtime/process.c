// SPDX-License-Identifier: MIT
/*
 * process.c - the files of a traced process: made when tracing is first asked
 * for, removed at exit when they hold nothing. See gkhi/control.h.
 */
#include <string.h>

#include "core.h"
#include "file.h"
#include "process.h"
#include "sys.h"
#include "strbuf.h"

struct gkhi_environment gkhi_environment;
struct gkhi_process gkhi_process;

void gkhi_process_path(char *path, const char *name)
{
	struct strbuf t = sb_into(path, GKHI_PATH_MAX);

	sb_str(&t, gkhi_process.dir);
	sb_char(&t, '/');
	sb_str(&t, name);
}

/* Field 22 of /proc/self/stat; 0 where there is no /proc. */
static uint64_t read_starttime(void)
{
	char buf[1024];
	const char *s;
	uint64_t v = 0;

	if (file_read("/proc/self/stat", buf, sizeof(buf)) <= 0)
		return 0;
	s = strrchr(buf, ')');		/* comm may hold anything */
	for (int field = 2; s && field < 22; field++)
		s = strchr(s + 1, ' ');
	if (s)
		s++;
	return s && sb_parse_dec(&s, &v) ? v : 0;
}

static void make_uuid(uint8_t uuid[16], uint64_t starttime)
{
	uint64_t words[2] = { starttime << 32 | port_pid(), port_clock() };

	if (sys_call3(SYS_getrandom, (long)uuid, 16, 1 /* GRND_NONBLOCK */) != 16)
		memcpy(uuid, words, 16);	/* pid and time: unique on this machine */
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

/* A line of a file of /proc, without its newline. */
static void read_line(const char *path, char *buf, size_t size)
{
	char *end;

	if (file_read(path, buf, size) <= 0)
		buf[0] = 0;
	end = strchr(buf, '\n');
	if (end)
		*end = 0;
}

static void fill_control(struct gkhi_control *c)
{
	c->version = GKHI_CONTROL_VERSION;
	c->header_size = sizeof(*c);
	c->hooks_offset = (sizeof(*c) + 4095) & ~4095u;
	memcpy(c->uuid, gkhi_process.uuid, 16);
	c->pid = port_pid();
	c->starttime = gkhi_process.starttime;
	read_line("/proc/sys/kernel/random/boot_id", c->boot_id, sizeof(c->boot_id));
	read_line("/proc/self/comm", c->comm, sizeof(c->comm));
	c->clock = port_clock_kind();
	gkhi_clock_moment(c);
	PORT_STORE_RELEASE(c->magic, GKHI_CONTROL_MAGIC);
}

static void remove_file(const char *name)
{
	char path[GKHI_PATH_MAX];

	gkhi_process_path(path, name);
	sys_unlinkat(AT_FDCWD, path, 0);
}

static void remove_directory(void)
{
	remove_file("control");
	remove_file("metadata");
	remove_file("request");
	for (unsigned int i = 0; i < GKHI_SHM_FILES; i++)
		if (gkhi_process.shm[i][0])
			remove_file(gkhi_process.shm[i]);
	sys_unlinkat(AT_FDCWD, gkhi_process.dir, AT_REMOVEDIR);
}

static int make_files(void)
{
	struct gkhi_process *p = &gkhi_process;
	size_t head = (sizeof(*p->control) + 4095) & ~4095ul;
	char path[GKHI_PATH_MAX];
	void *addr;
	int err;

	gkhi_process_path(path, "control");
	err = file_map_new(path, head, &addr);
	if (err)
		return err;
	p->control = addr;
	fill_control(p->control);
	err = gkhi_metadata_open();
	if (!err)
		err = gkhi_control_reserve(64);
	if (err) {
		gkhi_metadata_forget();
		sys_munmap(p->control, head);
		p->control = NULL;
	}
	return err;
}

int gkhi_process_open(void)
{
	struct gkhi_process *p = &gkhi_process;
	struct strbuf t;
	int err;

	if (p->control)
		return 0;
	gkhi_clock_init();
	p->starttime = read_starttime();
	err = gkhi_directory_make(p->dir, sizeof(p->dir), p->starttime, p->why, sizeof(p->why));
	if (err)
		return err;
	make_uuid(p->uuid, p->starttime);
	err = make_files();
	if (!err) {
		gkhi_fork_opened();
		port_channels_changed();
		for (struct gkhi_hook_entry *e = gkhi_core_next(NULL); e; e = gkhi_core_next(e))
			port_hook_changed(e);
		return 0;
	}
	t = sb_into(p->why, sizeof(p->why));
	sb_str(&t, p->dir);
	sb_str(&t, ": ");
	sb_errno(&t, -err);
	remove_directory();
	p->dir[0] = 0;
	return err;
}

void gkhi_process_forget(void)
{
	struct gkhi_process *p = &gkhi_process;
	struct gkhi_control_hook *hooks = p->hooks;

	gkhi_metadata_forget();
	PORT_STORE_RELEASE(p->hooks, NULL);	/* first: a handler of ours may trace here */
	if (hooks)
		sys_munmap(hooks, p->control->hooks_capacity * sizeof(*hooks));
	if (p->control)
		sys_munmap(p->control, (sizeof(*p->control) + 4095) & ~4095ul);
	p->control = NULL;
	p->dir[0] = 0;
	memset(p->shm, 0, sizeof(p->shm));
}

/* Does a channel with a file of its own hold anything? */
static bool has_content(void)
{
	struct gkhi_channel_stats st;

	for (struct gkhi_channel *ch = gkhi_core_channels(); ch; ch = ch->next) {
		size_t n = strlen(ch->config.name);
		bool file = false;

		for (unsigned int i = 0; i < GKHI_SHM_FILES; i++)
			file |= !strncmp(gkhi_process.shm[i], ch->config.name, n) && gkhi_process.shm[i][n] == '.';
		if (!file || !ch->backend)
			continue;
		memset(&st, 0, sizeof(st));
		ch->backend->stats(ch, &st);
		for (unsigned int i = 0; i < GKHI_N_LOST_REASONS; i++)
			st.events += st.lost[i];
		if (st.events)
			return true;
	}
	return false;
}

void gkhi_process_close(void)
{
	struct gkhi_process *p = &gkhi_process;
	char path[GKHI_PATH_MAX];

	if (!p->control)
		return;
	if (!gkhi_environment.keep && !has_content()) {
		remove_directory();
		return;
	}
	for (struct gkhi_hook_entry *e = gkhi_core_next(NULL); e; e = gkhi_core_next(e))
		port_hook_changed(e);
	port_channels_changed();
	gkhi_process_path(path, "metadata");
	file_cut(path, p->control->metadata_size);
	p->metadata_capacity = 0;	/* nothing is appended from here on */
	PORT_STORE_RELEASE(p->control->ended, 1);
}

static char *free_shm_slot(void)
{
	for (unsigned int i = 0; i < GKHI_SHM_FILES; i++)
		if (!gkhi_process.shm[i][0])
			return gkhi_process.shm[i];
	return NULL;
}

int port_shm_create(const char *name, size_t size, void **addr)
{
	char path[GKHI_PATH_MAX];
	char *slot = free_shm_slot();
	int err = gkhi_process_open();

	if (err)
		return err;
	if (!slot || strlen(name) >= sizeof(gkhi_process.shm[0]) || strchr(name, '/') || name[0] == '.')
		return slot ? -EINVAL : -EMFILE;
	gkhi_process_path(path, name);
	err = file_map_new(path, size, addr);
	if (!err)
		strcpy(slot, name);
	return err;
}

void port_shm_remove(const char *name, void *addr, size_t size)
{
	sys_munmap(addr, size);
	for (unsigned int i = 0; i < GKHI_SHM_FILES; i++)
		if (!strcmp(gkhi_process.shm[i], name) && name[0]) {
			remove_file(name);
			gkhi_process.shm[i][0] = 0;
		}
}

const uint8_t *port_uuid(void)
{
	return gkhi_process.uuid;
}

uint32_t port_pid(void)
{
	return (uint32_t)sys_call3(SYS_getpid, 0, 0, 0);
}
