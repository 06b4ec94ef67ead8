// SPDX-License-Identifier: MIT
// One way to record an event, as the benchmark runs it.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace gkhi::bench {

inline constexpr int kMaxThreads = 2;

// Runs `n` events; `state` belongs to the calling thread alone.
using VariantFn = void (*)(void *state, long n);

struct Variant {
  std::string name;
  VariantFn run = nullptr;
  long slice = 2000;  // events in a hot slice: short against a time slice, long against the two clock reads
  std::array<void *, kMaxThreads> state = {};
  std::string skip;  // why it cannot run here; empty: it can
};

// Each group's own file; appends, never fails: what is missing here is appended with its reason.
void AddFloors(std::vector<Variant> &out);
void AddHooks(std::vector<Variant> &out);
void AddPrinted(std::vector<Variant> &out);
void AddLttng(std::vector<Variant> &out);
void AddUsdt(std::vector<Variant> &out);

}  // namespace gkhi::bench
