// SPDX-License-Identifier: MIT
// switch_ledger.hpp - what was fired, what was read, and whether the two agree.
//
// The argument. The switcher adds one to `turn` of a group before and after each switch of it: turn 2k says
// that configuration k holds, 2k+1 that k is turning into k+1. A configuration is the set of channels that
// the group's events go to, empty when it is off. A thread notes the turn before and behind each event. While
// it fired, nothing but the configurations from floor(before / 2) to ceil(behind / 2) can have been in force,
// and
//   - an event decides once where it goes: so the set of channels it is found in must be one of these
//   configurations,
//     whole. On in all of them: found; static turning into marker, or a swap of channels: found exactly once
//     in one of the two; off in all of them: not found;
//   - twice in one channel is a fault whatever the configurations say;
//   - every byte of an event follows from (lane, seq): so a torn one is a fault;
//   - where a ring was full, events are missing. Each is counted as lost: the least number of missing ones
//   that explains
//     what was found must not be more than the counters say, the greatest not less. With room enough both are
//     0.
// "Fired while on = read + counted lost" is the last two lines for events that met one configuration only.
#pragma once

#include <gkhi/ring.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gkhi_stress {

constexpr int kGroups = 2;

inline uint64_t Check(uint64_t lane, uint64_t seq) {
  uint64_t a = lane ^ seq * 0x9e3779b97f4a7c15u;
  a ^= a >> 29;
  a *= 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 32);
}

// The string of an event: 0 to 20 letters. No allocation: handlers call it.
struct Letters {
  char s[24];
  size_t n;
};
Letters Text(uint64_t lane, uint64_t seq);

struct Fired {
  uint32_t before = 0, behind = 0;  // turns
  uint8_t group = 0;
  uint8_t found = 0;  // a bit per channel
};

struct Verdict {
  uint64_t fired = 0;
  uint64_t read = 0;
  uint64_t surely_on = 0;  // met configurations that are all on
  uint64_t missing_least = 0;
  uint64_t missing_most = 0;
  uint64_t faults = 0;
  std::string first_fault;
};

class Ledger {
 public:
  explicit Ledger(size_t lanes, size_t capacity);

  void Clear();  // a new round
  size_t capacity() const { return capacity_; }
  Fired &At(size_t lane, size_t seq) { return fired_[lane * capacity_ + seq]; }
  void SetCount(size_t lane, size_t n) { count_[lane] = n; }
  // Configuration @k of a group: a bit per channel.
  void Configure(int group, size_t k, uint8_t channels);

  // Ids of the events: [group][0] words, [group][1] with a string.
  void SetIds(const uint32_t (&ids)[kGroups][2]);

  // Everything in a ring that nobody writes to and that never wrapped. Returns what it counted as lost.
  uint64_t Read(const std::string &path, int channel);

  Verdict Judge(uint64_t lost);

 private:
  void Fault(const std::string &what);
  void ReadPacket(const char *packet, size_t bytes, int channel);
  size_t ReadRecord(const uint64_t *words, size_t left, int channel);
  void Found(uint64_t lane, uint64_t seq, int group, int channel);
  void JudgeOne(size_t lane, size_t seq, const Fired &f);

  size_t lanes_, capacity_;
  std::vector<Fired> fired_;
  std::vector<size_t> count_;
  std::vector<uint8_t> configurations_[kGroups];
  uint32_t ids_[kGroups][2] = {};
  Verdict verdict_;
};

}  // namespace gkhi_stress
