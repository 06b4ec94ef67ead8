// SPDX-License-Identifier: MIT
/*
 * directory.c - the directory of a process: $GKHI_DIR, else
 * $XDG_RUNTIME_DIR/gkhi, else /dev/shm/gkhi-<uid>, and in it <pid>-<starttime>.
 *
 * Whoever can write there can make this process patch itself: so a directory
 * that is a symbolic link, another user's, or writable by others is refused.
 */
#include <string.h>

#include "file.h"
#include "process.h"
#include "sys.h"
#include "strbuf.h"

#define GKHI_IMAGES_MAX	1000		/* programs under one pid, by exec */

static int refuse(char *why, size_t why_size, const char *path, const char *what, int err)
{
	struct strbuf t = sb_into(why, why_size);

	sb_str(&t, path);
	sb_str(&t, ": ");
	if (what)
		sb_str(&t, what);
	else
		sb_errno(&t, -err);
	return err;
}

/* The folder of this user, made if it is missing. A descriptor, or -errno with @why. */
static int open_folder(const char *path, char *why, size_t why_size)
{
	int err = sys_mkdirat(AT_FDCWD, path, 0700);
	uid_t uid = (uid_t)sys_call3(SYS_geteuid, 0, 0, 0);
	struct stat st;
	int fd;

	if (err && err != -EEXIST)
		return refuse(why, why_size, path, NULL, err);
	fd = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd == -ELOOP || fd == -ENOTDIR)
		return refuse(why, why_size, path, "found a symbolic link or a file, wanted a directory", fd);
	if (fd < 0)
		return refuse(why, why_size, path, NULL, fd);
	err = sys_fstat(fd, &st);
	if (err)
		refuse(why, why_size, path, NULL, err);
	else if (st.st_uid != uid)
		err = refuse(why, why_size, path, "belongs to another user", -EPERM);
	else if (st.st_mode & 022)
		err = refuse(why, why_size, path, "is writable by others, wanted mode 0700", -EPERM);
	if (err) {
		sys_close(fd);
		return err;
	}
	return fd;
}

/* <pid>-<starttime>[.image] */
static void write_name(char *name, size_t size, uint64_t starttime, unsigned int image)
{
	struct strbuf t = sb_into(name, size);

	sb_dec(&t, (uint64_t)sys_call3(SYS_getpid, 0, 0, 0));
	sb_char(&t, '-');
	sb_dec(&t, starttime);
	if (image) {
		sb_char(&t, '.');
		sb_dec(&t, image);
	}
}

static int make_in(const char *folder, char *dir, size_t size, uint64_t starttime, char *why, size_t why_size)
{
	int fd = open_folder(folder, why, why_size);
	struct strbuf t;
	char name[64];
	int err = -EEXIST;

	if (fd < 0)
		return fd;
	for (unsigned int image = 0; err == -EEXIST && image < GKHI_IMAGES_MAX; image++) {
		write_name(name, sizeof(name), starttime, image);
		err = sys_mkdirat(fd, name, 0700);
	}
	sys_close(fd);
	if (err)
		return refuse(why, why_size, folder, NULL, err);
	t = sb_into(dir, size);
	sb_str(&t, folder);
	sb_char(&t, '/');
	sb_str(&t, name);
	return 0;
}

/* A relative GKHI_DIR counts from where the program is now. */
static int absolute(char *path, size_t size, const char *dir, char *why, size_t why_size)
{
	struct strbuf t = sb_into(path, size);

	if (dir[0] != '/') {
		long n = sys_call3(SYS_getcwd, (long)path, (long)size, 0);

		if (n < 0)
			return refuse(why, why_size, dir, NULL, (int)n);
		t = sb_into(path, size);
		t.at = path + n - 1;
		sb_char(&t, '/');
	}
	sb_str(&t, dir);
	if (t.full || t.end - t.at < 64)
		return refuse(why, why_size, "GKHI_DIR", "path is too long, wanted at most 190 bytes", -ENAMETOOLONG);
	return 0;
}

int gkhi_directory_make(char *dir, size_t size, uint64_t starttime, char *why, size_t why_size)
{
	const struct gkhi_environment *env = &gkhi_environment;
	char folder[GKHI_DIR_MAX];
	struct strbuf t;
	int err;

	if (env->dir[0]) {
		err = absolute(folder, sizeof(folder), env->dir, why, why_size);
		return err ? err : make_in(folder, dir, size, starttime, why, why_size);
	}
	if (env->runtime_dir[0] == '/' && strlen(env->runtime_dir) < sizeof(folder) - 70) {
		t = sb_into(folder, sizeof(folder));
		sb_str(&t, env->runtime_dir);
		sb_str(&t, "/gkhi");
		if (!make_in(folder, dir, size, starttime, why, why_size))
			return 0;	/* else: after su or sudo it is another user's */
	}
	t = sb_into(folder, sizeof(folder));
	sb_str(&t, "/dev/shm/gkhi-");
	sb_dec(&t, (uint64_t)sys_call3(SYS_geteuid, 0, 0, 0));
	return make_in(folder, dir, size, starttime, why, why_size);
}
