/* SPDX-License-Identifier: MIT */
/*
 * harness.h - a stand-in for the core: switches all hooks of a program with the
 * runtime's own patching and detours, and keeps what they say as text. So the
 * matrix tests sites, patching and detours, and nothing else.
 */
#ifndef SITES_HARNESS_H
#define SITES_HARNESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Run @work disabled, static, marker, disabled, and with markers and calls mixed.
 * Return: 0 when all was right; else what was wrong is on stderr.
 * @print: the log of one run goes to stdout.
 */
int sites_check(uint64_t (*work)(void), int print);

#ifdef __cplusplus
}
#endif
#endif
