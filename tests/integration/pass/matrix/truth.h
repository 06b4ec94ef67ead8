// SPDX-License-Identifier: MIT
/* The truth: each line goes to stderr as the event's printk line will look. */
#ifndef GKHI_TRUTH_H
#define GKHI_TRUTH_H
#include <stdio.h>

#define TRUTH(...) fprintf(stderr, __VA_ARGS__)

#ifdef __cplusplus
extern "C" {
#endif
int features_cxx(int n);
int twice(int n);
#ifdef __cplusplus
}
#endif
#endif
