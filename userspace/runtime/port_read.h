/* SPDX-License-Identifier: MIT */
/* port_read.h - what the grace period (port_lock.c) knows of the read sections. */
#ifndef GKHI_PORT_READ_H
#define GKHI_PORT_READ_H

/* New readers take the other side; the side they took before. */
unsigned int port_readers_flip(void);

/* Readers inside now. */
unsigned long port_readers_of(unsigned int index);

/* In a forked child: the readers that were other threads are no more. */
void port_readers_forget(void);

#endif
