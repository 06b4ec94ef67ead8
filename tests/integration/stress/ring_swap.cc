// SPDX-License-Identifier: MIT
// ring_swap.cc - a live swap between two rings: every event is in exactly one, and none gets into the old one
// after the grace period.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "ring_load.hpp"

extern "C" {
int port_prepare(const char **why);
int port_synchronize(void);
unsigned int port_read_lock(void);
void port_read_unlock(unsigned int index);
}

namespace gkhi_stress {
namespace {

constexpr size_t kWriters = 8;

uint64_t Events(gkhi_channel *channel) {
  gkhi_channel_stats stats;
  channel->backend->stats(channel, &stats);
  return stats.events;
}

TEST(RingSwap, EveryEventInExactlyOneChannel) {
  fake_port = {};
  const char *why = nullptr;
  ASSERT_EQ(port_prepare(&why), 0) << why;
  fake_read_lock = port_read_lock;
  fake_read_unlock = port_read_unlock;
  gkhi_channel channels[2];
  for (gkhi_channel &c : channels) OpenRing(&c, 1 << 14, 16, GKHI_RING_OVERWRITE);
  Hooks hooks(&channels[0]);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> fired{0};
  std::vector<std::thread> threads;
  for (size_t writer = 0; writer < kWriters; writer++)
    threads.emplace_back([&, writer] {
      uint64_t seq = 0;
      for (; !stop; seq++)
        hooks.Fire(static_cast<Kind>(Hash(seq, writer) % kKinds), writer, seq & 0xffffffff);
      fired += seq;
    });
  const uint64_t swaps = Scaled(3000, 300);
  uint64_t late = 0;
  for (uint64_t i = 0; i < swaps; i++) {
    gkhi_channel *old = &channels[i % 2];
    hooks.Route(&channels[(i + 1) % 2]);
    ASSERT_EQ(port_synchronize(), 0);
    const uint64_t before = Events(old);
    usleep(300);
    late += Events(old) - before;
  }
  stop = true;
  for (std::thread &t : threads) t.join();
  const uint64_t got = Events(&channels[0]) + Events(&channels[1]);
  std::printf("%lu swaps, fired %lu, in one or the other %lu, late %lu\n", swaps, fired.load(), got, late);
  EXPECT_EQ(late, 0u);
  EXPECT_EQ(got, fired.load());
  EXPECT_GT(Events(&channels[0]), swaps);
  EXPECT_GT(Events(&channels[1]), swaps);
  fake_read_lock = nullptr;
  fake_read_unlock = nullptr;
  for (gkhi_channel &c : channels) CloseRing(&c);
}

}  // namespace
}  // namespace gkhi_stress
