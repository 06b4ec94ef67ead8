// SPDX-License-Identifier: MIT
void log_it(int);
int plain(int n) { log_it(n); return n; }
