// SPDX-License-Identifier: MIT
// A call that does not end well: the thread gets its registers and its signal mask back, and goes on.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tracee.hpp"

namespace gkhi {
namespace {

using std::chrono::milliseconds;

// Entries: what a runtime may do instead of coming to its end. They take no stack that is not theirs.
[[noreturn]] void Spins(uint64_t) {
  for (volatile bool forever = true; forever;) {
  }
  __builtin_trap();
}
[[noreturn]] void Sleeps(uint64_t) {
  for (;;) syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}
[[noreturn]] void CallsAllTheTime(uint64_t) {
  for (;;) syscall(SYS_getppid);
}
// The kernel starts it again after each stop, as it does with an open() of a FIFO.
[[noreturn]] void WaitsForAChild(uint64_t) {
  for (;;) syscall(SYS_wait4, -1, nullptr, __WALL, nullptr);
}
[[noreturn]] void Crashes(uint64_t) {
  __builtin_trap();
}

struct Shared {
  std::atomic<uint64_t> rounds;
  std::atomic<bool> wrong;
};

// Counts, and looks whether it still has its own signal mask.
[[noreturn]] void CountForEver(Shared *shared, bool sleep) {
  for (;;) {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    if (sigismember(&mask, SIGUSR1) || !sigismember(&mask, SIGUSR2)) shared->wrong = true;
    shared->rounds++;
    if (sleep) usleep(1000);
  }
}

class TraceeCall : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    shared_ = static_cast<Shared *>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_ = fork();
    if (pid_ != 0) return;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    if (fork() == 0) {  // somebody to wait for
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    CountForEver(shared_, GetParam());
  }
  void TearDown() override {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    munmap(shared_, sizeof(Shared));
  }

  bool GoesOn() const {
    const uint64_t before = shared_->rounds;
    for (int turn = 0; turn < 2000 && shared_->rounds < before + 3; turn++)
      std::this_thread::sleep_for(milliseconds(1));
    return shared_->rounds >= before + 3;
  }

  void ExpectPutBack(void (*entry)(uint64_t), Tracee::Outcome wanted) {
    ASSERT_TRUE(GoesOn());
    for (int i = 0; i < 20; i++) {
      Tracee tracee(pid_, pid_);
      ASSERT_EQ(tracee.Stop(Tracee::Clock::now() + milliseconds(1000)), Tracee::Outcome::kDone);
      int result = 0;
      EXPECT_EQ(
          tracee.Call(reinterpret_cast<uint64_t>(entry), 0, Tracee::Clock::now() + milliseconds(20), &result),
          wanted);
      tracee.Detach();
      ASSERT_TRUE(GoesOn()) << "call " << i;
    }
    EXPECT_FALSE(shared_->wrong) << "another signal mask";
  }

  Shared *shared_ = nullptr;
  pid_t pid_ = 0;
};

TEST_P(TraceeCall, ThatSpinsIsBrokenOff) {
  ExpectPutBack(Spins, Tracee::Outcome::kStuck);
}
TEST_P(TraceeCall, ThatSleepsIsBrokenOff) {
  ExpectPutBack(Sleeps, Tracee::Outcome::kStuck);
}
TEST_P(TraceeCall, ThatWaitsIsBrokenOff) {
  ExpectPutBack(WaitsForAChild, Tracee::Outcome::kStuck);
}
TEST_P(TraceeCall, ThatMakesSystemCallsIsBrokenOff) {
  ExpectPutBack(CallsAllTheTime, Tracee::Outcome::kStuck);
}
TEST_P(TraceeCall, ThatCrashesIsBrokenOff) {
  ExpectPutBack(Crashes, Tracee::Outcome::kCrashed);
}

INSTANTIATE_TEST_SUITE_P(Of, TraceeCall, testing::Bool(),
                         [](const auto &info) { return std::string(info.param ? "ASleeper" : "ARunner"); });

}  // namespace
}  // namespace gkhi
