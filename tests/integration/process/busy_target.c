// SPDX-License-Identifier: MIT
/*
 * busy_target.c - a program that checks itself: registers, vector state, rounding,
 * errno, what system calls return, queued signals, forks. Whatever a remote call
 * changed in any of its threads, it says so on stdout and exits with 1.
 *
 * Prints "ready", ends with "ok" when its stdin is closed. Arguments choose the
 * threads: any letters of "gvfrnupeoqskx" (default: all). "E300" instead:
 * executes itself 300 times, and says "ok".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_bool stop;
static atomic_int n_bad;

#define CHECK(cond, ...)						\
	do {								\
		if (!(cond) && atomic_fetch_add(&n_bad, 1) < 5) {	\
			printf("bad: " __VA_ARGS__);			\
			printf("\n");					\
		}							\
	} while (0)

/* Between two rounds: on two processors the caller must get a turn as well. */
static void breathe(void)
{
	struct timespec nap = { 0, 100000 };

	nanosleep(&nap, NULL);
}

/* General registers and flags, over some thousand instructions. */
static void *general(void *arg)
{
	(void)arg;
	while (!stop) {
		uint64_t bad;

		__asm__ volatile(
			"movq $0x1111,%%rbx\n movq $0x2222,%%rcx\n movq $0x3333,%%rdx\n movq $0x4444,%%rsi\n"
			"movq $0x5555,%%rdi\n movq $0x8888,%%r8\n movq $0x9999,%%r9\n movq $0xaaaa,%%r10\n"
			"movq $0xbbbb,%%r11\n movq $0xcccc,%%r12\n movq $0xdddd,%%r13\n movq $0xeeee,%%r14\n"
			"movq $3000,%%r15\n"
			"1: stc\n pause\n jnc 9f\n"
			"decq %%r15\n jnz 1b\n"
			"xorl %%eax,%%eax\n"
			"cmpq $0x1111,%%rbx\n jne 9f\n cmpq $0x2222,%%rcx\n jne 9f\n cmpq $0x3333,%%rdx\n jne 9f\n"
			"cmpq $0x4444,%%rsi\n jne 9f\n cmpq $0x5555,%%rdi\n jne 9f\n cmpq $0x8888,%%r8\n jne 9f\n"
			"cmpq $0x9999,%%r9\n jne 9f\n cmpq $0xaaaa,%%r10\n jne 9f\n cmpq $0xbbbb,%%r11\n jne 9f\n"
			"cmpq $0xcccc,%%r12\n jne 9f\n cmpq $0xdddd,%%r13\n jne 9f\n cmpq $0xeeee,%%r14\n jne 9f\n"
			"jmp 8f\n 9: movl $1,%%eax\n 8:\n"
			: "=a"(bad) : : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
			  "r14", "r15", "cc");
		CHECK(!bad, "a general register changed");
		breathe();
	}
	return NULL;
}

/* All sixteen vector registers: ymm where there are such, else xmm. */
static void *vectors(void *arg)
{
	static const uint64_t pattern[4] = { 0x0123456789abcdefu, 0xfedcba9876543210u, 0x5555aaaa5555aaaau,
					     0xdeadbeefcafebabeu };
	const bool avx = __builtin_cpu_supports("avx");

	(void)arg;
	while (!stop) {
		uint64_t seen[3][4];
		long turns = 3000;

		if (avx)
			__asm__ volatile("vmovdqu %4,%%ymm0\n vmovdqa %%ymm0,%%ymm7\n vmovdqa %%ymm0,%%ymm15\n"
					 "1: pause\n decq %0\n jnz 1b\n"
					 "vmovdqu %%ymm0,%1\n vmovdqu %%ymm7,%2\n vmovdqu %%ymm15,%3\n vzeroupper\n"
					 : "+r"(turns), "=m"(seen[0]), "=m"(seen[1]), "=m"(seen[2]) : "m"(pattern)
					 : "xmm0", "xmm7", "xmm15", "cc");
		else
			__asm__ volatile("movdqu %4,%%xmm0\n movdqa %%xmm0,%%xmm7\n movdqa %%xmm0,%%xmm15\n"
					 "1: pause\n decq %0\n jnz 1b\n"
					 "movdqu %%xmm0,%1\n movdqu %%xmm7,%2\n movdqu %%xmm15,%3\n"
					 : "+r"(turns), "=m"(seen[0]), "=m"(seen[1]), "=m"(seen[2]) : "m"(pattern)
					 : "xmm0", "xmm7", "xmm15", "cc");
		for (int i = 0; i < 3; i++)
			CHECK(!memcmp(seen[i], pattern, avx ? 32 : 16), "a vector register changed");
		breathe();
	}
	return NULL;
}

/* Sums whose last bit depends on the rounding mode, on x87 and SSE. */
static void *floats(void *arg)
{
	volatile double first = 0;
	volatile long double first_long = 0;

	(void)arg;
	while (!stop) {
		double sum = 0;
		long double sum_long = 0;

		for (int i = 1; i < 4000; i++) {
			sum += 1.0 / i;
			sum_long += 1.0L / i;
		}
		if (!first) {
			first = sum;
			first_long = sum_long;
		}
		CHECK(first == sum && first_long == sum_long, "a sum changed: %.17g, was %.17g", sum, first);
		breathe();
	}
	return NULL;
}

/* A pipe whose other end writes a counter every millisecond: read() returns it, never EINTR. */
static int pipe_fd[2];

static void *pipe_writer(void *arg)
{
	(void)arg;
	for (uint64_t n = 1; !stop; n++) {
		struct timespec nap = { 0, 1000000 };

		CHECK(write(pipe_fd[1], &n, sizeof(n)) == sizeof(n), "write: %m");
		CHECK(!clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL), "clock_nanosleep was interrupted");
	}
	close(pipe_fd[1]);
	return NULL;
}

static void *reader(void *arg)
{
	uint64_t n, want = 1;
	ssize_t got;

	(void)arg;
	while ((got = read(pipe_fd[0], &n, sizeof(n))) > 0) {
		CHECK(got == sizeof(n) && n == want, "read %zd bytes: %lu, wanted %lu", got, n, want);
		want++;
	}
	CHECK(!got, "read: %m");
	return NULL;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void *sleeper(void *arg)
{
	(void)arg;
	while (!stop) {
		struct timespec nap = { 0, 3000000 };
		double start = now();

		CHECK(!nanosleep(&nap, NULL), "nanosleep: %m");
		CHECK(now() - start >= 0.003, "nanosleep was short: %f", now() - start);
	}
	return NULL;
}

static void *futex_waiter(void *arg)
{
	static uint32_t word;

	(void)arg;
	while (!stop) {
		struct timespec timeout = { 0, 2000000 };
		double start = now();
		long ret = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &timeout, NULL, 0);

		CHECK(ret < 0 && errno == ETIMEDOUT, "futex: %ld %m", ret);
		CHECK(now() - start >= 0.002, "futex was short: %f", now() - start);
	}
	return NULL;
}

static void *poller(void *arg)
{
	(void)arg;
	while (!stop) {
		struct pollfd pfd = { .fd = -1 };

		CHECK(!poll(&pfd, 1, 2), "poll: %m");
	}
	return NULL;
}

static void *epoller(void *arg)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev;

	(void)arg;
	while (!stop)
		CHECK(!epoll_wait(fd, &ev, 1, 2), "epoll_wait: %m");
	close(fd);
	return NULL;
}

/* errno between the failing call and the look at it. */
static void *errno_looker(void *arg)
{
	(void)arg;
	while (!stop) {
		errno = 0;
		close(-1);
		for (volatile int i = 0; i < 300; i++)
			;
		CHECK(errno == EBADF, "errno is %d", errno);
		breathe();
	}
	return NULL;
}

/* Queued signals with a value: each arrives once, in order, with its value. */
static atomic_long n_queued, n_handled;

static void on_queued(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	CHECK(info->si_code == SI_QUEUE && info->si_value.sival_int == (int)n_handled, "signal %d, wanted %ld",
	      info->si_value.sival_int, n_handled);
	n_handled++;
}

static atomic_long n_alarms;

static void on_alarm(int sig)
{
	(void)sig;
	n_alarms++;
}

static void *queuer(void *arg)
{
	(void)arg;
	while (!stop) {
		union sigval value = { .sival_int = (int)n_queued };

		if (!sigqueue(getpid(), SIGRTMIN, value))
			n_queued++;
		for (volatile int i = 0; i < 3000; i++)
			;
		if (n_queued % 16 == 0)
			breathe();
	}
	return NULL;
}

static void *taker(void *arg)
{
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (!stop || n_handled < n_queued) {
		sigset_t mask;

		pthread_sigmask(SIG_BLOCK, NULL, &mask);
		CHECK(!sigismember(&mask, SIGRTMIN) && sigismember(&mask, SIGUSR2), "the signal mask changed");
		breathe();
		if (stop && n_bad)
			break;
	}
	return NULL;
}

/* sigsuspend() returns when its signal comes, and puts the mask back. */
static void on_usr1(int sig)
{
	(void)sig;
}

static void *suspender(void *arg)
{
	sigset_t wait, mask;

	(void)arg;
	sigfillset(&wait);
	sigdelset(&wait, SIGUSR1);
	while (!stop) {
		pthread_kill(pthread_self(), SIGUSR1);	/* pending: blocked everywhere but inside */
		CHECK(sigsuspend(&wait) < 0 && errno == EINTR, "sigsuspend: %m");
		pthread_sigmask(SIG_BLOCK, NULL, &mask);
		CHECK(sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGUSR2), "the signal mask changed");
		breathe();
	}
	return NULL;
}

static void *forker(void *arg)
{
	(void)arg;
	while (!stop) {
		int status = -1;
		pid_t pid = fork();

		if (!pid)
			_exit(7);
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7,
		      "fork: %d, status %x: %m", pid, status);
		usleep(2000);
	}
	return NULL;
}

/*
 * Two threads on one processor add to a counter in restartable sequences: load,
 * dawdle, store. One that was stopped between and went on would undo what the
 * other one added.
 */
static volatile long shared_count;
static atomic_long n_added;

static int add_one(struct rseq *area)
{
	__asm__ goto(".pushsection __rseq_cs,\"aw\"\n .balign 32\n 3: .long 0,0\n .quad 1f,2f-1f,4f\n .popsection\n"
		     "leaq 3b(%%rip),%%rax\n movq %%rax,8(%[area])\n"
		     "1: movq %[count],%%rax\n movl $400,%%ecx\n"
		     "5: pause\n decl %%ecx\n jnz 5b\n"
		     "incq %%rax\n movq %%rax,%[count]\n 2:\n"
		     ".pushsection .text.abort,\"ax\"\n .byte 0x0f,0xb9,0x3d\n .long 0x53053053\n"
		     "4: jmp %l[aborted]\n .popsection\n"
		     : : [area] "r"(area), [count] "m"(shared_count) : "rax", "rcx", "memory", "cc" : aborted);
	return 1;
aborted:
	return 0;
}

static void *adder(void *arg)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	cpu_set_t one;

	(void)arg;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; !stop; i++) {
		if (add_one(area))
			n_added++;
		if (i % 64 == 0)
			breathe();
	}
	return NULL;
}

static const struct {
	char letter;
	void *(*body)(void *);
} kinds[] = {
	{ 'g', general }, { 'v', vectors }, { 'f', floats }, { 'r', reader }, { 'r', pipe_writer }, { 'n', sleeper },
	{ 'u', futex_waiter }, { 'p', poller }, { 'e', epoller }, { 'o', errno_looker }, { 'q', queuer }, { 'q', taker },
	{ 's', suspender }, { 'k', forker }, { 'x', adder }, { 'x', adder },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* In a call that a stop would interrupt: so that the others are chosen first. */
static void wait_for_end(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = epoll_create1(EPOLL_CLOEXEC);
	char buf[64];

	epoll_ctl(fd, EPOLL_CTL_ADD, 0, &ev);
	do
		CHECK(epoll_wait(fd, &ev, 1, -1) == 1, "epoll_wait without a timeout: %m");
	while (read(0, buf, sizeof(buf)) > 0);
}

static int exec_again(const char *program, int left)
{
	char argument[16];

	usleep(1500);
	if (!left) {
		printf("ok\n");
		return 0;
	}
	snprintf(argument, sizeof(argument), "E%d", left - 1);
	execl(program, program, argument, (char *)NULL);
	return 3;
}

int main(int argc, char **argv)
{
	const struct itimerval tick = { { 0, 700 }, { 0, 700 } };
	pthread_t thread[N_KINDS];
	bool made[N_KINDS] = { false };
	sigset_t all;

	if (argc > 1 && argv[1][0] == 'E')
		return exec_again(argv[0], atoi(argv[1] + 1));
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGRTMIN, &(struct sigaction){ .sa_sigaction = on_queued, .sa_flags = SA_SIGINFO | SA_RESTART }, NULL);
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm, .sa_flags = SA_RESTART }, NULL);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_usr1 }, NULL);
	if (pipe(pipe_fd))
		return 2;
	for (size_t i = 0; i < N_KINDS; i++) {
		if (argc > 1 && !strchr(argv[1], kinds[i].letter))
			continue;
		made[i] = !pthread_create(&thread[i], NULL, kinds[i].body, NULL);
	}
	if (argc < 2 || strchr(argv[1], 'q'))
		setitimer(ITIMER_REAL, &tick, NULL);
	printf("ready\n");
	wait_for_end();
	stop = true;
	for (size_t i = 0; i < N_KINDS; i++)
		if (made[i])
			pthread_join(thread[i], NULL);
	CHECK(shared_count == n_added, "%ld added, %ld counted", n_added, shared_count);
	printf("%s\n", n_bad ? "failed" : "ok");
	return n_bad ? 1 : 0;
}
