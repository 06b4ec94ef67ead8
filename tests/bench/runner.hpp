// SPDX-License-Identifier: MIT
// Runs variants in turns, so that whatever else the machine does hits all of them alike.
#pragma once

#include <string>
#include <vector>

#include "variant.hpp"

namespace gkhi::bench {

struct Options {
  int passes = 5;         // each gives one figure per variant; the report takes their median
  int rounds = 300;       // hot slices per pass
  int cold_rounds = 100;  // single events with an evicted cache per pass
  std::size_t evict_bytes = 8u << 20;
};

struct Result {
  std::string variant;
  int threads = 1;
  bool cold = false;
  std::vector<double> ns;  // per event, one per pass
};

// Ticks of the TSC per nanosecond, against CLOCK_MONOTONIC.
double MeasureTscGhz();

// Hot: a slice per variant and round, the 10th percentile of the slices. Cold: one event after the cache was
// evicted, the median, less that of an empty variant. With two threads both start a slice together and the
// slower one counts.
std::vector<Result> RunAll(const std::vector<Variant> &variants, int threads, double tsc_ghz,
                           const Options &options);

}  // namespace gkhi::bench
