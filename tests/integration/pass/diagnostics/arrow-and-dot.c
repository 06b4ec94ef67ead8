// SPDX-License-Identifier: MIT
struct queue { int head; };
void receive(struct queue *p, struct queue v) { p->head = v.head; }
