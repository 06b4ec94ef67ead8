// SPDX-License-Identifier: MIT
__attribute__((naked)) void entry_point(int n) { __asm__("ret"); }
