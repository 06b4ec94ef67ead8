// SPDX-License-Identifier: MIT
// ring_kill.cc - processes that are killed at random moments while they write: no bad byte, no gap.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "ring_load.hpp"

extern "C" uint32_t port_sequence_cpu(void);

namespace gkhi_stress {
namespace {

constexpr size_t kProcesses = 1000, kAtOnce = 4;
constexpr uint64_t kMaxEvents = 1 << 16;

struct Shared {
  std::atomic<uint64_t> written[kProcesses];
};

[[noreturn]] void Victim(Hooks *hooks, Shared *shared, size_t writer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (uint64_t seq = 0; seq < kMaxEvents;) {
    if (!hooks->Fire(static_cast<Kind>(seq % kKinds), writer, seq)) {
      sched_yield();  // full: nothing was written
      continue;
    }
    shared->written[writer].store(++seq, std::memory_order_relaxed);
  }
  for (;;) pause();
}

void KillOne(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(RingKill, AThousandKilledProcessesLeaveNoBadByte) {
  fake_port = {};
  gkhi_channel channel;
  OpenRing(&channel, 1 << 14, 64, GKHI_RING_DISCARD);
  Hooks hooks(&channel);
  auto *shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Ledger ledger(kProcesses, kMaxEvents);
  Consumer consumer(fake_port.shm, &ledger);
  // Without sequences they wait for one another on one stream: fewer do.
  const size_t processes = port_sequence_cpu() < fake_port.n_cpus ? kProcesses : kProcesses / 5;
  Random random(1);
  pid_t alive[kAtOnce] = {};
  for (size_t writer = 0; writer < processes; writer++) {
    pid_t *slot = &alive[writer % kAtOnce];
    if (*slot != 0) KillOne(*slot);
    *slot = fork();
    if (*slot == 0) Victim(&hooks, shared, writer);
    usleep(static_cast<useconds_t>(200 + random.Next() % 2000));
    consumer.Poll();
  }
  for (pid_t pid : alive) KillOne(pid);
  consumer.Finish();
  EXPECT_EQ(ledger.faults(), 0u) << ledger.first_fault();
  uint64_t between = 0;
  for (size_t writer = 0; writer < kProcesses; writer++) {
    const uint64_t written = shared->written[writer];
    for (uint64_t seq = 0; seq < written; seq++)
      ASSERT_TRUE(ledger.Has(writer, seq))
          << "writer " << writer << " lost number " << seq << " of " << written;
    // Killed between the commit and the count of it.
    ASSERT_LE(ledger.Got(writer), written + 1);
    between += ledger.Got(writer) - written;
  }
  std::printf("%zu processes killed, %lu events read, %lu of them killed right behind the commit\n",
              kProcesses, ledger.events(), between);
  EXPECT_GT(ledger.events(), kProcesses);
  munmap(shared, sizeof(Shared));
  CloseRing(&channel);
}

}  // namespace
}  // namespace gkhi_stress
