/* SPDX-License-Identifier: MIT */
/*
 * text_maps.h - the executable mappings of this process, from /proc/self/maps,
 * without malloc or stdio. Caller holds the control lock.
 */
#ifndef GKHI_TEXT_MAPS_H
#define GKHI_TEXT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_map {
	uintptr_t start, end;
	int prot;		/* PROT_* */
	bool shared;		/* stores would reach the file */
};

struct text_maps_reader {
	int fd;
	size_t at, filled;
	char buffer[4096];
};

int text_maps_open(struct text_maps_reader *r);		/* 0 or -errno */
bool text_maps_next(struct text_maps_reader *r, struct text_map *map);
void text_maps_close(struct text_maps_reader *r);

#endif
