// SPDX-License-Identifier: MIT
// ring_stress.cc - four processes of 64 threads on one ring: affinity flips, signal handlers that trace, a
// live consumer. Built a second time with sequences that are not armed: then the same checks must find
// faults.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "ring_load.hpp"

namespace gkhi_stress {
namespace {

constexpr size_t kProcesses = 4, kThreads = 64, kWriters = kProcesses * kThreads * 2;
constexpr uint64_t kMaxEvents = 1 << 16;
constexpr long kSignalNs = 3000000;

// What the processes tell the parent: how many events each writer fired, written or lost.
struct Shared {
  std::atomic<uint64_t> fired[kWriters];
};

Shared *shared;
Hooks *hooks;
thread_local size_t signal_writer;  // 0: this thread takes no part

void OnSignal(int) {
  const int saved_errno = errno, saved_error = fake_dispatch_error;
  if (signal_writer != 0) {
    const uint64_t seq = shared->fired[signal_writer].load(std::memory_order_relaxed);
    if (seq < kMaxEvents) {
      hooks->Fire(static_cast<Kind>(seq % kKinds), signal_writer, seq);
      shared->fired[signal_writer].store(seq + 1, std::memory_order_relaxed);
    }
  }
  fake_dispatch_error = saved_error;
  errno = saved_errno;
}

class ThreadTimer {
 public:
  explicit ThreadTimer(size_t writer) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    timer_create(CLOCK_MONOTONIC, &event, &timer_);
    const long ns = kSignalNs + static_cast<long>(writer) * 1317;
    const itimerspec often = {{0, ns}, {0, ns}};
    timer_settime(timer_, 0, &often, nullptr);
  }
  ~ThreadTimer() {
    timer_delete(timer_);
    signal_writer = 0;
  }

 private:
  timer_t timer_;
};

// To one cpu of those that the test may use, or just out of the way.
void MoveSomewhere(Random *random, const cpu_set_t &allowed) {
  const uint64_t r = random->Next();
  if (r % 2) {
    sched_yield();
    return;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  size_t nth = r / 2 % static_cast<size_t>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed) && nth-- == 0) CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof(one), &one);
}

void Write(size_t writer, uint64_t events, const cpu_set_t &allowed) {
  Random random(writer);
  signal_writer = writer + 1;
  ThreadTimer timer(writer);
  for (uint64_t seq = 0; seq < events; seq++) {
    const uint64_t r = random.Next();
    const Kind kind = static_cast<Kind>(r % 8 != 0 ? r / 8 % 3 : r / 8 % kKinds);
    if (!hooks->Fire(kind, writer, seq)) usleep(2000);  // full: let the consumer catch up
    shared->fired[writer].store(seq + 1, std::memory_order_relaxed);
    if (r / 1024 % 64 == 0) MoveSomewhere(&random, allowed);
  }
}

[[noreturn]] void WriterProcess(size_t process, uint64_t events, const cpu_set_t &allowed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; t++)
    threads.emplace_back(Write, (process * kThreads + t) * 2, events, std::cref(allowed));
  for (std::thread &t : threads) t.join();
  _exit(0);
}

struct Outcome {
  uint64_t fired = 0, read = 0, lost = 0, faults = 0;
  std::string first_fault;
};

Outcome Stress(uint64_t events) {
  fake_port = {};
  gkhi_channel channel;
  OpenRing(&channel, 1 << 16, 64, GKHI_RING_DISCARD);
  Hooks all(&channel);
  hooks = &all;
  shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::vector<pid_t> children;
  for (size_t p = 0; p < kProcesses; p++) {
    const pid_t pid = fork();
    if (pid == 0) WriterProcess(p, events, allowed);
    children.push_back(pid);
  }
  Ledger ledger(kWriters, kMaxEvents);
  Consumer consumer(fake_port.shm, &ledger);
  while (!children.empty()) {
    int status = 0;
    if (!consumer.Poll()) usleep(200);
    if (waitpid(children.back(), &status, WNOHANG) == 0) continue;
    if (status != 0) ledger.Fault("a writer ended with status " + std::to_string(status));
    children.pop_back();
  }
  consumer.Finish();
  Outcome out{0, ledger.events(), consumer.Lost(), ledger.faults(), ledger.first_fault()};
  for (const auto &fired : shared->fired) out.fired += fired;
  munmap(shared, sizeof(Shared));
  CloseRing(&channel);
  std::printf("fired %lu = read %lu + lost %lu; %lu faults %s\n", out.fired, out.read, out.lost, out.faults,
              out.first_fault.c_str());
  return out;
}

#ifdef GKHI_TEST_UNARMED
TEST(RingStress, UnarmedSequencesAreFoundOut) {
  const Outcome out = Stress(Scaled(60000, 40000));
  EXPECT_TRUE(out.faults != 0 || out.fired != out.read + out.lost)
      << "the check would not see events that were torn or lost";
}
#else
TEST(RingStress, EveryEventOnceAndWhole) {
  const Outcome out = Stress(Scaled(60000, 40000));
  EXPECT_EQ(out.faults, 0u) << out.first_fault;
  EXPECT_EQ(out.fired, out.read + out.lost);
  EXPECT_GT(out.read, out.fired / 10) << "the consumer was too slow for this to say anything";
}
#endif

}  // namespace
}  // namespace gkhi_stress
