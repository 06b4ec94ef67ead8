/* SPDX-License-Identifier: MIT */
/* symbol.h - names of functions, from the files of objects. Control lock held. */
#ifndef GKHI_SYMBOL_H
#define GKHI_SYMBOL_H

#include <stdint.h>

/* The function at @address of the object that was loaded from @path at @bias; "" if nobody knows. Good until the next call. */
const char *gkhi_symbol_of(const char *path, uintptr_t bias, uintptr_t address);

/* Unmap the file that was looked at last. */
void gkhi_symbol_forget(void);

#endif
