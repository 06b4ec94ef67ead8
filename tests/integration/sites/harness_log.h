/* SPDX-License-Identifier: MIT */
/* harness_log.h - what the hooks of a matrix program said. */
#ifndef SITES_HARNESS_LOG_H
#define SITES_HARNESS_LOG_H

#include <stddef.h>
#include <gkhi/abi.h>

void gkhi_dispatch(struct gkhi_hook *hook, const uint64_t *frame);
void gkhi_faulted(struct gkhi_hook *hook, uint64_t n);
const char *harness_log(void);
void harness_log_clear(void);

#endif
