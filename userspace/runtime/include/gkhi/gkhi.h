/* SPDX-License-Identifier: MIT */
/*
 * gkhi/gkhi.h - the runtime's own calls. A program needs none of them: hooks are
 * registered by generated code and switched from outside.
 *
 * Contexts: T = any thread, S = also from a signal handler.
 */
#ifndef GKHI_GKHI_H
#define GKHI_GKHI_H

#include <gkhi/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct gkhi_module;

/*
 * gkhi_poll - take a pending request, if there is one (T).
 * For programs that want neither a thread nor ptrace: call it in the main loop;
 * it costs one load while nothing is asked.
 * Return: 1 a request was done, 0 none.
 */
int gkhi_poll(void);

/*
 * gkhi_control - run a batch, as `gkhi set` does (T).
 * @batch: NUL-terminated, docs/control.md has the grammar
 * @error: what was wrong, with its column; may be NULL
 * @size:  bytes of @error
 * Return: 0, or -EINVAL (syntax), -ENOENT (matches nothing), -E2BIG, -ENOMEM,
 * -EBUSY; then nothing was changed.
 */
int gkhi_control(const char *batch, char *error, size_t size);

/*
 * Called by generated constructors and destructors; a program does not.
 */
void gkhi_module_add(struct gkhi_module *module);
void gkhi_module_remove(struct gkhi_module *module);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
