// SPDX-License-Identifier: MIT
// ring_snapshot.cc - copies of a flight recorder that is being written: every packet that the rule in ring.h
// lets a reader trust is whole.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "ring_load.hpp"

namespace gkhi_stress {
namespace {

constexpr size_t kWriters = 6;
constexpr uint32_t kSubbuf = 1 << 14, kSubbufs = 16;

struct Place {
  uint64_t commit, seq;
};

// The commit word and the whole number of the packet that it tells of.
Place Look(const gkhi_ring_cpu *cpu, const char *data) {
  for (;;) {
    const uint64_t commit = __atomic_load_n(&cpu->commit, __ATOMIC_ACQUIRE);
    const char *packet = data + gkhi_commit_offset(commit) / kSubbuf * kSubbuf;
    const uint64_t seq =
        __atomic_load_n(&reinterpret_cast<const gkhi_packet *>(packet)->packet_seq_num, __ATOMIC_ACQUIRE);
    if ((seq & 0xff) == gkhi_commit_packet(commit)) return {commit, seq};
  }
}

gkhi_packet HeaderAt(const std::vector<char> &copy, uint64_t seq) {
  gkhi_packet p;
  std::memcpy(&p, &copy[seq % kSubbufs * kSubbuf], sizeof(p));
  return p;
}

// Checks the packets of a copy that was taken between two looks; their number.
uint64_t Check(const std::vector<char> &copy, const Place &before, const Place &after, Ledger *ledger) {
  uint64_t packets = 0, last_end = 0;
  for (uint64_t seq = after.seq < kSubbufs - 2 ? 0 : after.seq - (kSubbufs - 2); seq <= before.seq;
       seq++, packets++) {
    gkhi_packet p = HeaderAt(copy, seq);
    const bool open = seq == before.seq;
    uint64_t bytes = p.content_size / 8;
    uint32_t count = gkhi_commit_count(before.commit);
    if (open) {
      bytes = gkhi_commit_offset(before.commit) % kSubbuf + 8;
      p.timestamp_end = ~uint64_t{0};
    } else {
      count = static_cast<uint32_t>(HeaderAt(copy, seq + 1).count_begin - p.count_begin);
    }
    if (p.magic != GKHI_CTF_MAGIC || p.packet_seq_num != seq || bytes < GKHI_PACKET_HEADER ||
        bytes > kSubbuf) {
      ledger->Fault("bad header");
      continue;
    }
    if (p.timestamp_begin < last_end) ledger->Fault("packets overlap in time");
    last_end = p.timestamp_end;
    ledger->Take(p, &copy[seq % kSubbufs * kSubbuf + GKHI_PACKET_HEADER], bytes - GKHI_PACKET_HEADER, count);
  }
  return packets;
}

TEST(RingSnapshot, LiveFlightRecorder) {
  fake_port = {};
  gkhi_channel channel;
  OpenRing(&channel, kSubbuf, kSubbufs, GKHI_RING_OVERWRITE);
  const auto *file = static_cast<const gkhi_ring_file *>(fake_port.shm);
  Hooks hooks(&channel);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t writer = 0; writer < kWriters; writer++)
    threads.emplace_back([&, writer] {
      for (uint64_t seq = 0; !stop; seq = (seq + 1) & 0xffffffff)
        hooks.Fire(static_cast<Kind>(Hash(seq, writer) % kKinds), writer, seq);
    });
  Ledger ledger(0, 0);
  const uint64_t rounds = Scaled(3000, 1000);
  uint64_t packets = 0, snapshots = 0;
  std::vector<char> copy(size_t{kSubbuf} * kSubbufs);
  for (uint64_t round = 0; round < rounds; round++) {
    for (uint32_t i = 0; i < file->n_streams; i++, snapshots++) {
      const char *base = reinterpret_cast<const char *>(file) + GKHI_RING_PAGE + i * file->stride;
      const auto *cpu = reinterpret_cast<const gkhi_ring_cpu *>(base + file->cpu_offset);
      const char *data = base + file->data_offset;
      const Place before = Look(cpu, data);
      std::memcpy(copy.data(), data, copy.size());
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      packets += Check(copy, before, Look(cpu, data), &ledger);
    }
  }
  stop = true;
  for (std::thread &t : threads) t.join();
  std::printf("%lu snapshots, %lu packets, %lu events, %lu faults\n", snapshots, packets, ledger.events(),
              ledger.faults());
  EXPECT_EQ(ledger.faults(), 0u) << ledger.first_fault();
  EXPECT_GT(ledger.events(), snapshots);
  CloseRing(&channel);
}

}  // namespace
}  // namespace gkhi_stress
