// SPDX-License-Identifier: MIT
/*
 * host_program.c - does in one mode each what programs do to themselves, fires
 * events all the while, and prints what came of it. Traced or not, it must print
 * the same and end the same.
 *
 * Usage: host_program MODE [COUNT]. The last line is "MODE fired=<events>".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gkhi_host.h"

extern char **environ;

static atomic_ulong fired;
static int count = 1000;
static const char *program;

static __attribute__((noinline)) void tick(void)
{
	uint64_t seq = atomic_fetch_add(&fired, 1);

	gkhi_host_tick(seq, seq * 0x9e3779b97f4a7c15u);
}

static void ticks(int n)
{
	while (n--)
		tick();
}

static void move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Waits for @pid; "exit 7", "signal 6". */
static void print_end(const char *what, pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	if (WIFEXITED(status))
		printf("%s: exit %d\n", what, WEXITSTATUS(status));
	else
		printf("%s: signal %d\n", what, WTERMSIG(status));
}

/* -- plain, fork and its like */

static void do_plain(void)
{
	ticks(count);
}

/* Children that trace; one that does not; one of one; one that forks in a thread's presence. */
static void *spin(void *stop)
{
	while (!*(volatile int *)stop)
		tick();
	return NULL;
}

/* The same with pauses, so that who wants this processor gets it. */
static void *spin_gently(void *stop)
{
	while (!*(volatile int *)stop) {
		ticks(300);
		usleep(50);
	}
	return NULL;
}

static void do_fork(void)
{
	pid_t pid;

	ticks(count);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		pid_t grandchild;

		ticks(count);
		grandchild = fork();
		if (!grandchild) {
			ticks(count);
			_exit(8);
		}
		waitpid(grandchild, NULL, 0);
		exit(7);
	}
	print_end("child", pid);
	pid = fork();
	if (!pid)
		_exit(9);
	print_end("quiet child", pid);
	ticks(count);
	fired += 2 * (unsigned long)count;	/* by the children */
}

static void do_fork_threads(void)
{
	volatile int stop = 0;
	pthread_t thread[3];
	int bad = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, spin, (void *)&stop);
	for (int i = 0; i < count / 10; i++) {
		int status = 0;
		pid_t pid = fork();

		if (!pid) {
			ticks(3);
			_exit(i & 127);
		}
		waitpid(pid, &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != (i & 127);
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("forks gone wrong: %d\n", bad);
	fired += 3 * (unsigned long)(count / 10);
}

/* The child shares our memory, our thread's storage too, and is moved about while it traces. One in ten execs. */
static void do_vfork(void)
{
	static volatile int bad;
	volatile int stop = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, spin_gently, (void *)&stop);
	for (volatile int i = 0; i < count; i++) {
		int status = 0;
		pid_t pid;

		move_to(i & 1);
		pid = vfork();
		if (!pid) {
			move_to(~i & 1);
			ticks(5);
			if (i & 2)
				move_to(i & 1);
			ticks(5);
			if (i % 10)
				_exit(0);
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		tick();
		waitpid(pid, &status, 0);
		bad += status != 0;
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("vforks gone wrong: %d\n", bad);
}

static void do_spawn(void)
{
	char *argv[] = { "true", NULL };
	char line[64] = "";
	FILE *p;
	pid_t pid;

	ticks(count);
	printf("posix_spawn: %d\n", posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ));
	print_end("spawned", pid);
	fflush(stdout);
	printf("system: %d\n", system("echo from the shell; exit 3"));
	p = popen("echo piped", "r");
	if (!p || !fgets(line, sizeof(line), p))
		line[0] = 0;
	printf("popen: %s", line);
	printf("pclose: %d\n", pclose(p));
	ticks(count);
}

/* -- threads and signals */

static void do_threads(void)
{
	pthread_t thread[16];

	for (int i = 0; i < 16; i++)
		pthread_create(&thread[i], NULL, (void *(*)(void *))(void (*)(void))do_plain, NULL);
	for (int i = 0; i < 16; i++)
		pthread_join(thread[i], NULL);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int sig)
{
	(void)sig;
	tick();
	n_signals++;
}

static void do_handlers(void)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n_signals < count)
		ticks(100);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals came: %d\n", n_signals >= count);
}

static void do_sigtrap(void)
{
	sigset_t set;

	signal(SIGTRAP, SIG_IGN);
	ticks(count);
	signal(SIGTRAP, SIG_DFL);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ticks(count);
}

static void *end_process(void *arg)
{
	ticks(count);
	printf("exit_thread fired=%lu\n", fired);
	exit(5);
	return arg;
}

static void do_exit_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_process, NULL);
	/* pthread_exit() of a static program loads libgcc_s, and aborts when exit() is faster */
	syscall(SYS_exit, 0);
}

static void do_abort(void)
{
	ticks(count);
	printf("abort fired=%lu\n", fired);
	fflush(stdout);
	abort();
}

static void do_kill(void)
{
	ticks(count);
	printf("kill fired=%lu\n", fired);
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

/* -- policies */

static void do_mdwe(void)
{
	printf("mdwe: %d\n", prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0));
	ticks(count);
	printf("writable and executable: %s\n",
	       mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ?
		       "refused" : "granted");
}

static void do_userns(void)
{
	ticks(count);
	printf("unshare: %d\n", unshare(CLONE_NEWUSER));
	ticks(count);
}

/* -- files and descriptors */

static void print_descriptors(void)
{
	int n = 0;

	for (int fd = 3; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	printf("descriptors behind stderr: %d\n", n);
}

static void do_descriptors(void)
{
	ticks(count);
	print_descriptors();
	printf("the next one is %d\n", open("/dev/null", O_RDONLY));
}

/* A daemon closes everything and its files get the numbers anew. */
static void do_close_range(void)
{
	int out = dup(1), fd;
	struct stat st;

	syscall(SYS_close_range, 0, out - 1, 0);
	syscall(SYS_close_range, out + 1, ~0u, 0);
	for (int want = 0; want < out; want++) {
		fd = open("file", O_CREAT | O_RDWR | O_APPEND, 0600);
		if (fd != want)
			dprintf(out, "open gave %d, wanted %d\n", fd, want);
	}
	ticks(count);
	stat("file", &st);
	dprintf(out, "bytes in the file that is 0, 1 and 2: %ld\n", (long)st.st_size);
	dprintf(out, "close_range fired=%lu\n", fired);
	_exit(0);
}

static void do_daemon(void)
{
	FILE *f;
	pid_t pid;

	ticks(count);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (daemon(1, 0))
			_exit(1);
		ticks(count);
		f = fopen("pid", "w");
		fprintf(f, "%d %lu\n", getpid(), fired);
		fclose(f);
		rename("pid", "daemon");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 1000 && access("daemon", F_OK); i++)
		usleep(10000);
	printf("the daemon wrote its file: %d\n", !access("daemon", F_OK));
	fired += (unsigned long)count;
}

static void do_chdir(void)
{
	ticks(count);
	printf("chdir: %d\n", chdir("/"));
	ticks(count);
}

static void do_chroot(void)
{
	pid_t pid;

	ticks(count);
	printf("chroot: %d\n", mkdir("root", 0700) | chroot("root") | chdir("/"));
	ticks(count);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		ticks(count);
		_exit(0);
	}
	print_end("child in the chroot", pid);
}

static void do_exec(void)
{
	char *argv[] = { (char *)program, "plain", NULL };

	ticks(count);
	fflush(stdout);
	execv(program, argv);
}

static void do_limits(void)
{
	struct rlimit files = { 3, 3 }, size = { 16384, 16384 };
	int fd;

	ticks(count);
	setrlimit(RLIMIT_FSIZE, &size);
	fd = open("limited", O_CREAT | O_RDWR, 0600);
	printf("write: %zd\n", pwrite(fd, "x", 1, 16383));
	close(fd);
	setrlimit(RLIMIT_NOFILE, &files);
	errno = 0;
	printf("open: %d, %s\n", open("/dev/null", O_RDONLY), strerror(errno));
	ticks(count);
}

/* Waits on stdin while it traces: what the others do to it. */
static void do_wait(void)
{
	char c;

	ticks(count);
	printf("waiting\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		ticks(count);
}

/* Takes requests in its own loop, until stdin is at its end. */
extern int gkhi_poll(void) __attribute__((weak));

static void do_poll(void)
{
	int (*take)(void) = gkhi_poll;
	struct pollfd in = { .fd = 0, .events = POLLIN };
	unsigned int taken = 0;

	if (!take)
		*(void **)&take = dlsym(RTLD_DEFAULT, "gkhi_poll");
	if (!take) {
		void *runtime = dlopen("libgkhi.so.0", RTLD_NOW | RTLD_NOLOAD);

		*(void **)&take = runtime ? dlsym(runtime, "gkhi_poll") : NULL;
	}
	if (!take)
		return;
	take();
	printf("polling\n");
	fflush(stdout);
	while (!poll(&in, 1, 0)) {
		taken += (unsigned int)take();
		tick();
	}
	printf("poll took %u requests\n", taken);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "plain", do_plain }, { "fork", do_fork }, { "fork_threads", do_fork_threads }, { "vfork", do_vfork },
	{ "spawn", do_spawn }, { "threads", do_threads }, { "handlers", do_handlers }, { "sigtrap", do_sigtrap },
	{ "exit_thread", do_exit_thread }, { "abort", do_abort }, { "kill", do_kill }, { "mdwe", do_mdwe },
	{ "userns", do_userns }, { "descriptors", do_descriptors }, { "close_range", do_close_range },
	{ "daemon", do_daemon }, { "chdir", do_chdir }, { "chroot", do_chroot }, { "exec", do_exec },
	{ "limits", do_limits }, { "wait", do_wait },
	{ "poll", do_poll },
};

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 2)
		count = atoi(argv[2]);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			printf("%s fired=%lu\n", argv[1], fired);
			return 0;
		}
	fprintf(stderr, "usage: %s MODE [COUNT]\n", argv[0]);
	return 2;
}
