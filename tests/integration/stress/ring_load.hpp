// SPDX-License-Identifier: MIT
// ring_load.hpp - writers that put checkable events into a ring in every way there is, and a consumer that
// checks every byte of what comes out.
#pragma once

#include <gkhi/ring.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fake_port.h"

namespace gkhi_stress {

// A writer's events carry its number and a sequence number from 0; all else follows from those two.
inline uint64_t Hash(uint64_t a, uint64_t b) {
  a ^= b * 0x9e3779b97f4a7c15u;
  a ^= a >> 29;
  a *= 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 32);
}

// The kinds of events; their ids are kind + 1.
enum Kind : uint32_t { kTwo, kFour, kString, kTwoStrings, kBlock, kKinds };
constexpr uint32_t kBlockMax = 240;  // words

// Hooks to one channel, one per kind.
class Hooks {
 public:
  explicit Hooks(gkhi_channel *channel);
  void Route(gkhi_channel *channel);  // send them elsewhere, one store each
  // One event. False: it was lost, and counted.
  bool Fire(Kind kind, uint64_t writer, uint64_t seq);
  gkhi_hook *hook(Kind kind) { return &hooks_[kind]; }

 private:
  std::array<gkhi_event, kKinds> events_{};
  std::array<std::vector<gkhi_field>, kKinds> fields_;
  std::array<fake_hook, kKinds> fakes_{};
  std::array<gkhi_hook, kKinds> hooks_{};
};

// Which events came, from whatever packets; a bit each, so that twice is seen. With no writers it keeps no
// books and only looks whether each event is whole.
class Ledger {
 public:
  Ledger(size_t writers, size_t events_each);
  // Parses the content of a packet; `bytes` and `count` from its headers. Adds up what is wrong.
  void Take(const gkhi_packet &header, const char *content, size_t bytes, uint32_t count);

  uint64_t events() const { return events_; }
  uint64_t faults() const { return faults_; }
  uint64_t Got(size_t writer) const { return got_[writer]; }
  bool Has(size_t writer, size_t seq) const { return seen_[writer][seq / 64] >> (seq % 64) & 1; }
  const std::string &first_fault() const { return first_fault_; }
  void Fault(const std::string &what);

 private:
  bool TakeRecord(const uint64_t *words, size_t left, size_t *used);
  bool CheckPayload(Kind kind, const uint64_t *payload, size_t left, size_t *used);

  std::vector<std::vector<uint64_t>> seen_;
  std::vector<uint64_t> got_;
  uint64_t events_ = 0, faults_ = 0;
  std::string first_fault_;
};

// The consumer of a ring in discard mode.
class Consumer {
 public:
  Consumer(const void *file, Ledger *ledger);
  bool Poll();    // takes the finished packets; false: there was none
  void Finish();  // nobody writes any more: takes the open ones
  uint64_t Lost() const;

 private:
  struct Stream {
    gkhi_ring_cpu *cpu;
    const char *data;
    uint64_t last_end = 0;
    uint64_t last_discarded = 0;
    uint64_t count = 0;
  };
  gkhi_packet HeaderOf(const Stream &s, uint64_t seq) const;
  uint64_t OpenSeq(const Stream &s, uint64_t *commit) const;
  void TakePacket(Stream *s, uint64_t seq, bool open, uint64_t commit);

  const gkhi_ring_file *file_;
  std::vector<Stream> streams_;
  Ledger *ledger_;
};

// Opens a ring in memory that children of fork share.
void OpenRing(gkhi_channel *channel, uint32_t subbuf_size, uint32_t n_subbufs, uint32_t mode);
void CloseRing(gkhi_channel *channel);

// How much: GKHI_STRESS=full for the numbers that a release is measured by, else a share of them.
uint64_t Scaled(uint64_t full, uint64_t share);

class Random {
 public:
  explicit Random(uint64_t seed) : state_(Hash(seed, 12345) | 1) {}
  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 11;
  }

 private:
  uint64_t state_;
};

}  // namespace gkhi_stress
