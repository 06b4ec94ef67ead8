// SPDX-License-Identifier: MIT
struct queue { int head, tail; };
struct port { struct queue *rx; };
void receive(struct port *p) { p->rx->head++; }
