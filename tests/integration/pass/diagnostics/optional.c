// SPDX-License-Identifier: MIT
int total(int n) { return n; }
