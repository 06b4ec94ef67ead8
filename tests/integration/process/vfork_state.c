// SPDX-License-Identifier: MIT
/*
 * vfork_state.c - what vfork() leaves in the area of restartable sequences: -1 in
 * the child, the right processor in the parent, while both are moved about.
 *
 * Arguments: number of vforks, how many of them exec. Prints "ok" or what was wrong.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile struct rseq *area(void)
{
	return (volatile struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int seen_in_child;

/* 0: as it should be. */
static int one(int i, int n_cpus, int exec)
{
	int status = -1;
	pid_t pid;

	move_to(i % n_cpus);
	seen_in_child = 0;
	pid = vfork();
	if (!pid) {
		seen_in_child = (int)area()->cpu_id;
		move_to((i + 1) % n_cpus);
		if ((int)area()->cpu_id != -1)
			seen_in_child = 4711;
		if (exec)
			execl("/bin/true", "true", (char *)NULL);
		_exit(3);
	}
	if (pid < 0 || seen_in_child != -1) {
		printf("vfork %d: pid %d, the child saw cpu_id %d\n", i, pid, seen_in_child);
		return 1;
	}
	/* Pinned: so both are known. */
	if (area()->cpu_id != (uint32_t)(i % n_cpus) || area()->cpu_id_start != (uint32_t)(i % n_cpus)) {
		printf("vfork %d: the parent has cpu_id %d, runs on %d\n", i, (int)area()->cpu_id, i % n_cpus);
		return 1;
	}
	if (waitpid(pid, &status, 0) != pid || status != (exec ? 0 : 3 << 8)) {
		printf("vfork %d: status %x\n", i, (unsigned int)status);
		return 1;
	}
	return 0;
}

/* A failing vfork() says why, and the parent goes on registered. */
static int failing(void)
{
	const struct rlimit none = { 0, 0 };
	pid_t pid;
	int err;

	if (setgid(65534) || setuid(65534) || setrlimit(RLIMIT_NPROC, &none))
		return 0;	/* only root can become somebody who may not */
	errno = 0;
	pid = vfork();
	if (!pid)
		_exit(0);
	err = errno;
	if (pid != -1 || err != EAGAIN || (int)area()->cpu_id < 0) {
		printf("failing vfork: %d, errno %d, cpu_id %d\n", pid, err, (int)area()->cpu_id);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000, n_exec = argc > 2 ? atoi(argv[2]) : 100;
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	if (!__rseq_size) {
		/* Not registered: vfork() must leave the area alone. */
		uint32_t before = area()->cpu_id;
		pid_t pid = vfork();

		if (!pid)
			_exit(area()->cpu_id != before);
		printf("%s\n", area()->cpu_id == before ? "ok" : "the area changed");
		return 0;
	}
	for (int i = 0; i < n; i++)
		if (one(i, n_cpus, i < n_exec))
			return 1;
	if (failing())
		return 1;
	printf("ok\n");
	return 0;
}
