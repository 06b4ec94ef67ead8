// SPDX-License-Identifier: MIT
// Control lock, read sections, recursion guard and grace periods.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

extern "C" {
#include "port_posix.h"
#include "port_read.h"
}

namespace {

using std::chrono::milliseconds;

TEST(ControlLock, ExcludesAndKnowsItsOwner) {
  EXPECT_FALSE(port_control_held());
  port_control_lock();
  EXPECT_TRUE(port_control_held());
  std::thread([] {
    EXPECT_FALSE(port_control_held()) << "another thread's";
    EXPECT_EQ(port_control_trylock(), -EAGAIN);
  }).join();
  EXPECT_EQ(port_control_trylock(), -EAGAIN) << "not recursive";
  port_control_unlock();
  EXPECT_FALSE(port_control_held());
  EXPECT_EQ(port_control_trylock(), 0);
  port_control_unlock();
}

TEST(ControlLock, ManyThreads) {
  uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; i++) {
        port_control_lock();
        count++;
        port_control_unlock();
      }
    });
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(count, 160000u);
}

TEST(ControlLock, LeavesErrnoAlone) {
  port_control_lock();
  std::thread other([] {
    errno = 9;
    port_control_lock();
    port_control_unlock();
    EXPECT_EQ(errno, 9);
  });
  std::this_thread::sleep_for(milliseconds(20));
  errno = 8;
  port_control_unlock();
  EXPECT_EQ(errno, 8);
  other.join();
}

TEST(ControlLock, ForkedWithTheLockHeld) {
  port_control_lock();
  const pid_t pid = fork();
  if (pid == 0) {
    port_control_forked();
    if (!port_control_held()) _exit(1);
    port_control_unlock();
    _exit(port_control_trylock() == 0 ? 0 : 2);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  port_control_unlock();
}

TEST(ReadSection, HeldByThisThreadOnly) {
  EXPECT_FALSE(port_read_held());
  const unsigned int outer = port_read_lock();
  const unsigned int inner = port_read_lock();
  EXPECT_TRUE(port_read_held());
  std::thread([] { EXPECT_FALSE(port_read_held()); }).join();
  port_read_unlock(inner);
  EXPECT_TRUE(port_read_held());
  port_read_unlock(outer);
  EXPECT_FALSE(port_read_held());
}

std::atomic<int> handled;
void ReadInHandler(int) {
  const unsigned int index = port_read_lock();
  handled += port_read_held();
  port_read_unlock(index);
}

TEST(ReadSection, InASignalHandler) {
  signal(SIGUSR1, ReadInHandler);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      const unsigned int index = port_read_lock();
      port_read_unlock(index);
    }
    EXPECT_FALSE(port_read_held());
  });
  for (int i = 0; i < 500; i++) {
    pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  stop = true;
  reader.join();
  EXPECT_GT(handled, 0);
  EXPECT_EQ(port_readers_of(0) + port_readers_of(1), 0u);
  signal(SIGUSR1, SIG_DFL);
}

TEST(Guard, OncePerThread) {
  ASSERT_TRUE(port_guard_enter());
  EXPECT_FALSE(port_guard_enter());
  std::thread([] {
    EXPECT_TRUE(port_guard_enter());
    port_guard_leave();
  }).join();
  port_guard_leave();
  EXPECT_TRUE(port_guard_enter());
  port_guard_leave();
}

class Grace : public testing::Test {
 protected:
  void SetUp() override {
    const char *why = nullptr;
    if (port_prepare(&why) != 0) GTEST_SKIP() << why;
  }
};

TEST_F(Grace, NobodyInside) {
  errno = 5;
  EXPECT_EQ(port_synchronize(), 0);
  EXPECT_EQ(port_restart_sequences(), 0);
  EXPECT_EQ(errno, 5);
}

TEST_F(Grace, WaitsForWhoWasInside) {
  std::atomic<int> step{0};
  std::thread reader([&] {
    const unsigned int index = port_read_lock();
    step = 1;
    while (step != 2) std::this_thread::yield();
    port_read_unlock(index);
  });
  while (step != 1) std::this_thread::yield();
  std::atomic<bool> over{false};
  std::thread waiter([&] {
    EXPECT_EQ(port_synchronize(), 0);
    over = true;
  });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(over);
  step = 2;
  reader.join();
  waiter.join();
}

TEST_F(Grace, DoesNotWaitForWhoComesLater) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; t++)
    readers.emplace_back([&] {
      unsigned int index = port_read_lock();
      while (!stop) {  // one section begins before the last one ends: never is nobody inside
        const unsigned int next = port_read_lock();
        port_read_unlock(index);
        index = next;
      }
      port_read_unlock(index);
    });
  for (int i = 0; i < 50; i++) EXPECT_EQ(port_synchronize(), 0);
  stop = true;
  for (std::thread &t : readers) t.join();
}

// What a reader found before the grace period is not taken away under it.
TEST_F(Grace, NothingIsFreedUnderAReader) {
  struct Thing {
    std::atomic<int> alive{1};
  };
  Thing things[2];
  std::atomic<Thing *> current{&things[0]};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> dead{0}, reads{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; t++)
    readers.emplace_back([&] {
      while (!stop) {
        const unsigned int index = port_read_lock();
        const Thing *thing = current.load();
        for (int i = 0; i < 10; i++) dead += !thing->alive.load();
        port_read_unlock(index);
        reads++;
      }
    });
  for (int i = 0; i < 2000; i++) {
    Thing *old = &things[i % 2];
    Thing *next = &things[(i + 1) % 2];
    next->alive = 1;
    current = next;
    ASSERT_EQ(port_synchronize(), 0);
    old->alive = 0;
  }
  while (reads < 100) std::this_thread::yield();
  stop = true;
  for (std::thread &t : readers) t.join();
  EXPECT_EQ(dead, 0u);
}

// A reader whose handler did longjmp() never leaves: the process must not hang for us. In a child: it stays
// so.
TEST_F(Grace, AReaderThatNeverLeaves) {
  const pid_t pid = fork();
  if (pid == 0) {
    port_read_lock();
    std::thread([] {
      const auto begin = std::chrono::steady_clock::now();
      if (port_synchronize() != -ETIMEDOUT) _exit(1);
      const auto first = std::chrono::steady_clock::now();
      if (port_synchronize() != -ETIMEDOUT) _exit(2);
      const auto second = std::chrono::steady_clock::now();
      if (first - begin < milliseconds(900)) _exit(3);
      if (second - first > (first - begin) / 2) _exit(4);  // once is enough to learn it
    }).join();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Grace, AForkedChildForgetsReadersThatAreNoMore) {
  std::atomic<int> step{0};
  std::thread reader([&] {
    const unsigned int index = port_read_lock();
    step = 1;
    while (step != 2) std::this_thread::yield();
    port_read_unlock(index);
  });
  while (step != 1) std::this_thread::yield();
  port_control_lock();
  const pid_t pid = fork();
  if (pid == 0) {
    port_control_forked();
    _exit(port_synchronize() == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  port_control_unlock();
  step = 2;
  reader.join();
}

}  // namespace
