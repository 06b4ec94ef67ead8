/* SPDX-License-Identifier: MIT */
/*
 * process.h - a traced process towards its files and its requesters; shared by
 * the files of the process side.
 *
 *   who calls                          context            may run against
 *   gkhi_process_*, gkhi_control_*     control lock held  requesters, readers (other processes)
 *   gkhi_fork_*                        fork handlers      nothing of this process's control side
 *   gkhi_environment_read, gkhi_start  constructor        nothing
 */
#ifndef GKHI_PROCESS_H
#define GKHI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gkhi/control.h>

#define GKHI_DIR_MAX	256
#define GKHI_SHM_FILES	64

/* What the environment asked for, copied by the constructor: later it may be written to by other threads. */
struct gkhi_environment {
	char dir[GKHI_DIR_MAX];		/* GKHI_DIR, "" = not set */
	char runtime_dir[GKHI_DIR_MAX];	/* XDG_RUNTIME_DIR */
	const char *batch;		/* GKHI, NULL = not set */
	bool off;			/* GKHI=off */
	bool keep;			/* GKHI_KEEP */
	bool agent;			/* GKHI_AGENT=thread */
	const char *bad_agent;		/* another value of it */
};

struct gkhi_process {
	char dir[GKHI_DIR_MAX];		/* "" = none yet */
	struct gkhi_control *control;	/* stays where it is until exit */
	struct gkhi_control_hook *hooks;	/* moves when it grows */
	char *metadata;			/* mapped; moves when it grows */
	size_t metadata_capacity;
	uint64_t starttime;
	uint8_t uuid[16];
	char shm[GKHI_SHM_FILES][40];	/* names of the files made for channels */
	char why[GKHI_DIR_MAX + 128];	/* one line: why there is no directory */
};

extern struct gkhi_environment gkhi_environment;
extern struct gkhi_process gkhi_process;
extern struct gkhi_runtime_info gkhi_runtime_info;	/* remote.c */

/* Directory, control file and metadata, once. 0, or -errno with gkhi_process.why. */
int gkhi_process_open(void);

/* Forget them without touching a file: the child after fork. */
void gkhi_process_forget(void);

/* At exit: remove, or mark as ended. */
void gkhi_process_close(void);

/* "<dir>/<name>" into @path of GKHI_DIR_MAX + 64 bytes. */
#define GKHI_PATH_MAX	(GKHI_DIR_MAX + 64)
void gkhi_process_path(char *path, const char *name);

/* The directory itself (directory.c). 0, or -errno with @why. */
int gkhi_directory_make(char *dir, size_t size, uint64_t starttime, char *why, size_t why_size);

/* The hook table (control.c): map a table for at least @n hooks. */
int gkhi_control_reserve(uint32_t n);

/* Take the pending request, if there is one (control.c). 1 done, 0 none; control lock held. */
int gkhi_control_take(void);

/* Metadata (metadata.c). */
int gkhi_metadata_open(void);
void gkhi_metadata_forget(void);

/* Clock (clock_init.c). */
void gkhi_clock_init(void);
void gkhi_clock_moment(struct gkhi_control *control);

/* stderr (log.c): remember what descriptor 2 is; before that nothing is written. */
void gkhi_log_init(void);

/* Agent thread (agent.c). 0 or -errno. */
int gkhi_agent_start(void);

/* fork (fork.c). */
void gkhi_fork_init(void);
void gkhi_fork_opened(void);		/* in a forked child with a directory of its own now: channels too */

/* vfork (vfork_bind.c): from every object; constructors only, for the loader's lock. */
void gkhi_vfork_bind(void);

/* Start (start.c): idempotent; called by the library's constructor and by the first gkhi_module_add(). */
void gkhi_start(void);

#endif
