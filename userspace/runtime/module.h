/* SPDX-License-Identifier: MIT */
/*
 * module.h - between module.c (objects that have hooks) and process.c (the
 * process's files, environment and requests).
 */
#ifndef GKHI_MODULE_H
#define GKHI_MODULE_H

#include <stdbool.h>

/*
 * process.c: an object was linked and nobody traces yet. No lock is held. Starts
 * tracing if the environment asks for it (GKHI, GKHI_AGENT): then, under the
 * control lock, makes the files, calls gkhi_modules_start() and runs the batch.
 */
void gkhi_process_module_added(void);

/*
 * Give all objects to the core; later ones go there by themselves. Control lock
 * held; the process's files exist. 0, or -errno with the reason in *why: hooks
 * stay off.
 */
int gkhi_modules_start(const char **why);

/* Was that done? */
bool gkhi_modules_live(void);

#endif
