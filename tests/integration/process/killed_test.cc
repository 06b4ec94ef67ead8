// SPDX-License-Identifier: MIT
// A gkhi that is killed in the middle of a remote call: the program cannot tell, and can be called again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <random>

#include "attach.hpp"
#include "child.hpp"
#include "procfs.hpp"
#include "request.hpp"

namespace {
// This process dies before its so manieth ptrace request from now; 0: it does not.
int die_before = 0;
}  // namespace

// In the place of libc's, by which Tracee asks.
extern "C" long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long &one : a) one = va_arg(list, long);
  va_end(list);
  if (number == SYS_ptrace && die_before != 0 && --die_before == 0) raise(SIGKILL);
  register long r10 __asm__("r10") = a[3];
  register long r8 __asm__("r8") = a[4];
  register long r9 __asm__("r9") = a[5];
  long result = number;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

namespace gkhi {
namespace {

using test::Child;
using test::Folder;

// Of the program's own threads those that a mere stop does not show itself to: not "e" (epoll_wait).
constexpr const char *kKinds = "gvfrnupoqskx";

class Killed : public testing::Test {
 protected:
  void SetUp() override {
    setenv("GKHI_DIR", folder_.path().c_str(), 1);
    sigemptyset(&begins_);
    sigaddset(&begins_, SIGUSR1);
    sigprocmask(SIG_BLOCK, &begins_, nullptr);
  }
  void TearDown() override {
    sigprocmask(SIG_UNBLOCK, &begins_, nullptr);
    unsetenv("GKHI_DIR");
  }

  static bool LeftBehind(pid_t pid) {
    Result<RuntimeAddress> runtime = FindRuntime(pid);
    uint32_t tid = 0;
    return runtime && ReadMemory(pid, runtime->copy.remote, &tid, sizeof(tid)) && tid != 0;
  }

  // What became of a gkhi that calls `pid` `calls` times and dies before a ptrace request; true: it was
  // killed.
  template <typename Kill>
  bool CallAndDie(pid_t pid, int calls, int request, Kill kill_it) {
    const pid_t gkhi = fork();
    if (gkhi == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (int i = 0; i < calls; i++) {
        Result<Process> process = Process::Open(pid);
        if (!process) _exit(2);
        if (i == 0) kill(getppid(), SIGUSR1);  // here it begins
        die_before = request;
        if (!process->Run("trash")) _exit(3);
      }
      _exit(0);
    }
    const timespec patience{10, 0};
    sigtimedwait(&begins_, nullptr, &patience);
    kill_it(gkhi);
    int status = 0;
    waitpid(gkhi, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "status " << WEXITSTATUS(status);
    return WIFSIGNALED(status);
  }

  static void ExpectCallable(pid_t pid) {
    Result<Process> process = Process::Open(pid);
    ASSERT_TRUE(process) << process.error();
    Result<std::string> reply = process->Run("length");
    ASSERT_TRUE(reply) << reply.error();
    EXPECT_FALSE(LeftBehind(pid));
  }

  Folder folder_;
  sigset_t begins_{};
};

class KilledBefore : public Killed, public testing::WithParamInterface<const char *> {};

TEST_P(KilledBefore, EveryPtraceRequest) {
  Child target({BUSY_TARGET, GetParam()}, {});
  ASSERT_TRUE(target.WaitFor("ready")) << target.output();
  ExpectCallable(target.pid());
  int left = 0;
  bool killed = true;
  for (int request = 1; killed; request++) {
    ASSERT_LT(request, 1000) << "a call without end";
    killed = CallAndDie(target.pid(), 1, request, [](pid_t) {});
    left += LeftBehind(target.pid());
    if (request % 8 != 0) continue;  // else the next one finds what was left
    ExpectCallable(target.pid());
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(left, 5) << "none was killed in the middle";
  ExpectCallable(target.pid());
  EXPECT_EQ(target.Finish(), 0) << target.output();
  EXPECT_EQ(target.output(), "ready\nok\n");
}

INSTANTIATE_TEST_SUITE_P(Of, KilledBefore,
                         testing::Values("g", "v", "f", "r", "n", "u", "p", "o", "q", "s", "k", "x", kKinds),
                         [](const auto &info) {
                           return std::string(info.param == kKinds ? "All" : info.param);
                         });

TEST_F(Killed, TwoHundredTimesAtRandom) {
  Child target({BUSY_TARGET, kKinds}, {});
  ASSERT_TRUE(target.WaitFor("ready")) << target.output();
  ExpectCallable(target.pid());
  std::mt19937 random(4711);
  int left = 0;
  for (int i = 0; i < 200; i++) {
    CallAndDie(target.pid(), 1 << 30, 0, [&](pid_t gkhi) {
      usleep(random() % 3000);
      kill(gkhi, SIGKILL);
    });
    left += LeftBehind(target.pid());
    if (i % 20 == 19) ExpectCallable(target.pid());
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(left, 10) << "none was killed in the middle";
  ExpectCallable(target.pid());
  EXPECT_EQ(target.Finish(), 0) << target.output();
  EXPECT_EQ(target.output(), "ready\nok\n");
}

}  // namespace
}  // namespace gkhi
