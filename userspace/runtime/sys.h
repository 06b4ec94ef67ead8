/* SPDX-License-Identifier: MIT */
/*
 * sys.h - system calls without libc: no errno, no cancellation point, no lock.
 *
 * A request may run in a thread that ptrace stopped anywhere: between a failing
 * call and the look at errno, with a cancellation pending, inside malloc.
 * All return -errno on failure.
 */
#ifndef GKHI_SYS_H
#define GKHI_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
static inline long sys_call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
static inline long sys_call6(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret < 0 ? -errno : ret;
}
#endif

static inline long sys_call3(long nr, long a, long b, long c)
{
	return sys_call6(nr, a, b, c, 0, 0, 0);
}

static inline long sys_call4(long nr, long a, long b, long c, long d)
{
	return sys_call6(nr, a, b, c, d, 0, 0);
}

static inline int sys_openat(int dir, const char *path, int flags, int mode)
{
	return (int)sys_call4(SYS_openat, dir, (long)path, flags, mode);
}

static inline int sys_close(int fd)
{
	return (int)sys_call3(SYS_close, fd, 0, 0);
}

static inline long sys_read(int fd, void *buf, size_t n)
{
	return sys_call3(SYS_read, fd, (long)buf, (long)n);
}

static inline long sys_write(int fd, const void *buf, size_t n)
{
	return sys_call3(SYS_write, fd, (long)buf, (long)n);
}

static inline int sys_fstat(int fd, struct stat *st)
{
#if defined(__x86_64__)
	return (int)sys_call3(SYS_fstat, fd, (long)st, 0);
#else
	return fstat(fd, st) ? -errno : 0;
#endif
}

static inline int sys_mkdirat(int dir, const char *path, int mode)
{
	return (int)sys_call3(SYS_mkdirat, dir, (long)path, mode);
}

static inline int sys_unlinkat(int dir, const char *path, int flags)
{
	return (int)sys_call3(SYS_unlinkat, dir, (long)path, flags);
}

static inline long sys_mmap(void *addr, size_t size, int prot, int flags, int fd, long offset)
{
	return sys_call6(SYS_mmap, (long)addr, (long)size, prot, flags, fd, offset);
}

static inline int sys_munmap(void *addr, size_t size)
{
	return (int)sys_call3(SYS_munmap, (long)addr, (long)size, 0);
}

static inline int sys_futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return (int)sys_call4(SYS_futex, (long)word, op, value, (long)timeout);
}

/* The kernel's signal mask: one bit a signal. */
static inline void sys_sigmask(int how, const uint64_t *set, uint64_t *old)
{
	(void)sys_call4(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof(*set));
}

static inline void sys_block_signals(uint64_t *old)
{
	const uint64_t all = ~0ull;

	sys_sigmask(SIG_SETMASK, &all, old);
}

static inline void sys_restore_signals(const uint64_t *old)
{
	sys_sigmask(SIG_SETMASK, old, NULL);
}

#endif
