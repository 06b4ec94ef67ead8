// SPDX-License-Identifier: MIT
// ring_rules_test.cc - what packet.h promises (P1 to P5), for random events, sizes and clocks; and what
// happens to those who cannot use sequences.
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <thread>

#include "ring_fixture.hpp"

namespace gkhi_test {
namespace {

class RingRules : public RingTest, public testing::WithParamInterface<int> {};

TEST_P(RingRules, HoldForRandomEventsAndClocks) {
  std::mt19937_64 rng(static_cast<uint64_t>(GetParam()));
  const uint32_t stream_class = rng() % 3, mode = rng() % 2;
  const uint32_t subbuf_size = 4096u << rng() % 3, n_subbufs = 4u << rng() % 3;
  Open(subbuf_size, n_subbufs, stream_class, mode);
  const size_t header = stream_class == GKHI_STREAM_WIDE ? 2 : 1;
  fake_port.clock_step = 0;
  uint64_t fired = 0, refused = 0, seen = 0, next_seq = 0, last_end = 0, last_count = 0, last_lost = 0;
  for (int round = 0; round < 40; round++) {
    for (int i = 0; i < 50; i++, fired++) {
      // Mostly steps, now and then back, a standstill, or years.
      const uint64_t r = rng();
      fake_port.clock += r % 64 == 0 ? GKHI_PACKET_MAX_TICKS * (r / 64 % 3) : r / 64 % 1000;
      if (r % 61 == 0) fake_port.clock -= std::min<uint64_t>(fake_port.clock, 500);
      const uint16_t words = static_cast<uint16_t>(rng() % (r % 16 == 0 ? 700 : 20));
      TestEvent event(words);
      std::vector<uint64_t> frame(words + 1u, fired);
      refused += Write(event, static_cast<uint32_t>(words + 1), frame) != 0;
    }
    const std::vector<Packet> packets = view().Packets(stream());
    for (const Packet &p : packets) {
      if (p.header.packet_seq_num < next_seq && !p.open) continue;
      // P4, and P5's first half: nothing is between the packets but whole packets.
      if (p.header.packet_seq_num == next_seq) {
        EXPECT_EQ(p.header.count_begin, last_count);
        EXPECT_GE(p.header.timestamp_begin, last_end) << "P2";
      }
      EXPECT_GE(p.header.events_discarded, p.open ? 0 : last_lost) << "P5";
      uint64_t time = p.header.timestamp_begin;
      uint32_t count = 0;
      for (size_t at = 0; at < p.words.size(); count++) {
        const uint64_t w = p.words[at];
        const uint32_t id =
            stream_class == GKHI_STREAM_WIDE ? static_cast<uint32_t>(p.words[at + 1]) : w & 0xffff;
        if (stream_class == GKHI_STREAM_COMPACT) time += ((w >> 16) - time) & ((1ull << GKHI_TIME_BITS) - 1);
        if (stream_class == GKHI_STREAM_WIDE) {
          EXPECT_GE(w, time) << "P2";
          time = w;
        }
        EXPECT_LT(time - p.header.timestamp_begin, GKHI_PACKET_MAX_TICKS) << "P3";
        at += header + id - 1;
      }
      EXPECT_EQ(count, p.count);
      if (!p.open) {
        EXPECT_GE(p.header.timestamp_end, time) << "P1";
        EXPECT_TRUE(stream_class == GKHI_STREAM_NOCLOCK ||
                    p.header.timestamp_end - p.header.timestamp_begin < GKHI_PACKET_MAX_TICKS)
            << "P3";
        next_seq = p.header.packet_seq_num + 1;
        last_end = p.header.timestamp_end;
        last_count = p.header.count_begin + p.count;
        last_lost = p.header.events_discarded;
      } else {
        seen = p.header.count_begin + p.count;
      }
    }
    if (mode == GKHI_RING_DISCARD && rng() % 2)
      view().mutable_cpu(stream())->tail = packets.back().header.packet_seq_num;
  }
  EXPECT_EQ(seen + refused, fired) << "P5: what was fired is written or counted";
  EXPECT_EQ(view().cpu(stream()).discarded, refused);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RingRules, testing::Range(0, 60));

// ------------------------------------------------------------- the fallback stream

class RingFallback : public RingTest {
 protected:
  void OpenFallback() {
    fake_port.n_cpus = 0;
    Open(4096, 4);
  }
};

TEST_F(RingFallback, BusyLockIsContention) {
  OpenFallback();
  TestEvent event(1);
  view().mutable_cpu(0)->lock = static_cast<uint32_t>(getppid());  // somebody who lives
  EXPECT_EQ(Write(event, 5, {1}), -EBUSY);
  EXPECT_EQ(view().cpu(0).lost_by_reason[GKHI_LOST_CONTENTION], 1u);
  EXPECT_EQ(view().lost(0, 5), 1u);
}

TEST_F(RingFallback, OwnLockIsContentionAtOnce) {
  OpenFallback();
  TestEvent event(1);
  view().mutable_cpu(0)->lock = static_cast<uint32_t>(gettid());  // a signal handler on top of the owner
  EXPECT_EQ(Write(event, 5, {1}), -EBUSY);
}

TEST_F(RingFallback, LockOfTheDeadIsTakenOver) {
  OpenFallback();
  const pid_t child = fork();
  if (child == 0) {
    view().mutable_cpu(0)->lock = static_cast<uint32_t>(gettid());
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(view().cpu(0).lock, static_cast<uint32_t>(child));
  TestEvent event(1);
  EXPECT_EQ(Write(event, 5, {1}), 0);
  EXPECT_EQ(view().cpu(0).lock, 0u);
}

// A debugger's steps abort every sequence: after some attempts the event takes the other way.
TEST_F(RingTest, SingleSteppedEventsGetThrough) {
  fake_port.clock_kind = 1;
  Open(4096, 4);
  TestEvent event(2);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 7, &priv);
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    const uint64_t frame[] = {11, 22};
    _exit(fake_site_call(&hook, frame, 2) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  int steps = 0;
  while (WIFSTOPPED(status) && steps < 200000) {
    ASSERT_EQ(ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    steps++;
  }
  if (WIFSTOPPED(status)) kill(child, SIGKILL);
  ASSERT_TRUE(WIFEXITED(status)) << "still not done after " << steps << " steps";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "a register was changed";
  const std::vector<Record> records = SplitFixed(view().Packets(fallback()), GKHI_STREAM_COMPACT, 2);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].payload, (std::vector<uint64_t>{11, 22}));
}

}  // namespace
}  // namespace gkhi_test
