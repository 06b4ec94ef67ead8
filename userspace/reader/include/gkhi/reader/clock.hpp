// SPDX-License-Identifier: MIT
// The clock record: how ticks become time. One per boot, shared by every trace of that boot, so that they
// merge exactly.
#ifndef GKHI_READER_CLOCK_HPP
#define GKHI_READER_CLOCK_HPP

#include <gkhi/reader/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gkhi::reader {

enum class ClockKind { kTsc = 1, kMonotonic = 2 };  // enum gkhi_clock_kind

struct ClockRecord {
  ClockKind kind = ClockKind::kMonotonic;
  std::string boot_id;              // 8-4-4-4-12; also the uuid of the CTF clock
  uint64_t frequency = 1000000000;  // ticks per second
  int64_t realtime_offset = 0;      // ns of CLOCK_REALTIME at tick 0
  int64_t monotonic_offset = 0;     // ns of CLOCK_MONOTONIC at tick 0

  bool operator==(const ClockRecord &) const = default;

  // Rounded down, as babeltrace2 does. Ticks that no clock of this boot can have reached wrap round.
  int64_t ToNs(uint64_t ticks) const;
  int64_t ToRealtime(uint64_t ticks) const { return Sum(realtime_offset, ToNs(ticks)); }
  int64_t ToMonotonic(uint64_t ticks) const { return Sum(monotonic_offset, ToNs(ticks)); }

 private:
  static int64_t Sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};

// The text of the file <runtime directory>/clock.
std::string FormatClock(const ClockRecord &clock);
Result<ClockRecord> ParseClock(std::string_view text);

// The record of this boot for @kind, from @dir/clock; measured (about 0.1 s) and published there, atomically,
// when it is not there or of another boot. Two that race agree on one of them.
Result<ClockRecord> BootClock(const std::string &dir, ClockKind kind);

std::string BootId();

// One moment in ticks of @kind, now.
uint64_t ClockNow(ClockKind kind);

}  // namespace gkhi::reader

#endif
