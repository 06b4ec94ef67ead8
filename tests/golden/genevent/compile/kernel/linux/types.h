/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The types of the kernel's <linux/types.h> that generated text uses, spelled as there. */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H
typedef signed char s8;
typedef unsigned char u8;
typedef signed short s16;
typedef unsigned short u16;
typedef signed int s32;
typedef unsigned int u32;
typedef signed long long s64;
typedef unsigned long long u64;
typedef u8 uint8_t;
typedef u16 uint16_t;
typedef u32 uint32_t;
typedef u64 uint64_t;
typedef s8 int8_t;
typedef s16 int16_t;
typedef s32 int32_t;
typedef s64 int64_t;
typedef unsigned long uintptr_t;
typedef unsigned long size_t;
typedef _Bool bool;
enum { false = 0, true = 1 };
#endif
