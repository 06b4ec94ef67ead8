// SPDX-License-Identifier: MIT
/*
 * port_lock.c - the control lock, and the grace periods of what stubs, detours
 * and slow paths may be using.
 *
 *   call                      context                  may run against
 *   port_control_lock         T, not from the side of  everything
 *                             events
 *   port_control_trylock      also a stopped thread    everything
 *   port_prepare              T, control lock held     everything
 *   port_synchronize          T, control lock held     everything
 *   port_restart_sequences    T, control lock held     everything
 *
 * The lock is a futex word: 0 free, 1 held, 2 held and wanted. Its owner is known
 * by the address of a variable of its thread, which costs no system call.
 */
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "port_posix.h"
#include "port_read.h"

/* A reader is inside for microseconds; one that never leaves must not hang its process. */
#define PORT_GRACE_NS		1000000000ull
#define PORT_GRACE_STUCK_NS	10000000ull	/* after one never left */

static uint32_t gkhi_control_word;
static const char *gkhi_control_owner;
static __thread char gkhi_self __attribute__((tls_model("initial-exec")));
static bool gkhi_reader_stuck;

static long port_futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void port_control_lock(void)
{
	int saved = errno;

	if (port_control_trylock()) {
		/* 1->2, or 0->2: whoever waited must take the word as wanted */
		while (__atomic_exchange_n(&gkhi_control_word, 2, __ATOMIC_ACQUIRE))
			port_futex(&gkhi_control_word, FUTEX_WAIT, 2);
		PORT_WRITE_ONCE(gkhi_control_owner, &gkhi_self);
	}
	errno = saved;
}

int port_control_trylock(void)
{
	uint32_t idle = 0;

	if (!__atomic_compare_exchange_n(&gkhi_control_word, &idle, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return -EAGAIN;
	PORT_WRITE_ONCE(gkhi_control_owner, &gkhi_self);
	return 0;
}

void port_control_unlock(void)
{
	int saved = errno;

	PORT_WRITE_ONCE(gkhi_control_owner, NULL);
	if (__atomic_exchange_n(&gkhi_control_word, 0, __ATOMIC_RELEASE) == 2)
		port_futex(&gkhi_control_word, FUTEX_WAKE, 1);
	errno = saved;
}

bool port_control_held(void)
{
	return PORT_READ_ONCE(gkhi_control_owner) == &gkhi_self;
}

void port_control_forked(void)
{
	PORT_WRITE_ONCE(gkhi_control_word, 1);
	PORT_WRITE_ONCE(gkhi_control_owner, &gkhi_self);
	port_readers_forget();
}

static int port_membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) < 0 ? -errno : 0;
}

int port_prepare(const char **why)
{
	int err = port_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ);

	if (!err)
		err = port_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
	switch (err) {
	case 0:
		break;
	case -ENOSYS:
		*why = "the kernel has no membarrier(2)";
		break;
	case -EINVAL:
		*why = "the kernel's membarrier(2) knows no restartable sequences (Linux 5.10 does)";
		break;
	default:
		*why = "membarrier(2) is forbidden here (seccomp?)";
		break;
	}
	return err;
}

int port_restart_sequences(void)
{
	return port_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

static uint64_t port_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * Not nanosleep(): a stopped thread that runs this may have been in one, and it
 * would forget how to go on; and it is a cancellation point.
 */
static void port_nap(void)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	uint32_t word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &nap, NULL, 0);
}

/* Wait until nobody is left on one side. */
static int port_drain(unsigned int side)
{
	uint64_t deadline;
	int spin;

	for (spin = 0; spin < 200; spin++) {
		if (!port_readers_of(side))
			return 0;
		__builtin_ia32_pause();
	}
	deadline = port_monotonic() + (gkhi_reader_stuck ? PORT_GRACE_STUCK_NS : PORT_GRACE_NS);
	while (port_readers_of(side)) {
		if (port_monotonic() > deadline) {
			gkhi_reader_stuck = true;
			return -ETIMEDOUT;
		}
		port_nap();
	}
	return 0;
}

int port_synchronize(void)
{
	int saved = errno, err;
	unsigned int pass;

	err = port_restart_sequences();
	for (pass = 0; pass < 2; pass++) {
		int late = port_drain(port_readers_flip());

		if (late)
			err = late;
	}
	errno = saved;
	return err;
}
