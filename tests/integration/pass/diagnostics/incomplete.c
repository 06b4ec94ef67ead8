// SPDX-License-Identifier: MIT
struct hidden;
void use(struct hidden *);
void pass(struct hidden *h) { use(h); }
