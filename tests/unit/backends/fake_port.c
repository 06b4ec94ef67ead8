// SPDX-License-Identifier: MIT
/* fake_port.c - see fake_port.h. */
#include "fake_port.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "port.h"

struct fake_port fake_port;
__thread int fake_dispatch_error;
unsigned int (*fake_read_lock)(void);
void (*fake_read_unlock)(unsigned int index);

void *port_alloc(size_t size)
{
	if (fake_port.alloc_fails)
		return NULL;
	fake_port.n_alloc++;
	return calloc(1, size);
}

void port_free(void *p, size_t size)
{
	(void)size;
	fake_port.n_alloc--;
	free(p);
}

int port_shm_create(const char *name, size_t size, void **addr)
{
	if (fake_port.shm_fails)
		return -ENOSPC;
	*addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (*addr == MAP_FAILED)
		return -ENOMEM;
	fake_port.shm = *addr;
	fake_port.shm_size = size;
	fake_port.n_shm++;
	strncpy(fake_port.shm_name, name, sizeof(fake_port.shm_name) - 1);
	return 0;
}

void port_shm_remove(const char *name, void *addr, size_t size)
{
	(void)name;
	fake_port.n_shm--;
	munmap(addr, size);
}

const uint8_t *port_uuid(void)
{
	return fake_port.uuid;
}

uint32_t port_pid(void)
{
	return fake_port.pid;
}

unsigned int port_n_cpus(void)
{
	return fake_port.n_cpus;
}

uint32_t port_clock_kind(void)
{
	return fake_port.clock_kind;
}

uint64_t port_clock(void)
{
	if (fake_port.clock_kind == 1)
		return __builtin_ia32_rdtsc();
	return __atomic_fetch_add(&fake_port.clock, fake_port.clock_step, __ATOMIC_RELAXED);
}

int port_tid(void)
{
	return (int)syscall(SYS_gettid);
}

void gkhi_dispatch(struct gkhi_hook *hook, const uint64_t *frame);

void gkhi_dispatch(struct gkhi_hook *hook, const uint64_t *frame)
{
	const struct fake_hook *fake = hook->priv;
	unsigned int index = fake_read_lock ? fake_read_lock() : 0;
	const struct gkhi_route *route = PORT_LOAD_ACQUIRE(hook->route);
	struct gkhi_channel *channel = fake->channel ? fake->channel : route->channel;
	struct gkhi_payload payload = { fake->event, hook->id, frame };

	fake_dispatch_error = channel->backend->write(channel, &payload);
	if (fake_read_unlock)
		fake_read_unlock(index);
}
