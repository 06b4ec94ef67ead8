/* SPDX-License-Identifier: MIT */
/* file.h - files of a traced process, made so that the host cannot be hurt. */
#ifndef GKHI_FILE_H
#define GKHI_FILE_H

#include <stddef.h>

/* As openat(), but never file descriptor 0, 1 or 2, and close-on-exec. */
int file_open(int dir, const char *path, int flags, int mode);

/* Up to @size bytes of a small file, NUL-terminated. Bytes, or -errno. */
long file_read(const char *path, char *buf, size_t size);

/*
 * A new file of @size bytes with its space allocated, mapped shared. 0, or -errno
 * and nothing left behind.
 */
int file_map_new(const char *path, size_t size, void **addr);

/* Make a file of file_map_new() @size bytes long; maps bytes @offset to @size. */
int file_map_grown(const char *path, size_t offset, size_t size, void **addr);

/* Cut a file to @size bytes. */
int file_cut(const char *path, size_t size);

#endif
