// SPDX-License-Identifier: MIT
// The turns: see runner.hpp.
//
//   who             what                                     against whom
//   each thread     its own row of ticks_                    nobody
//   both threads    Barrier                                  each other
//   caller          reads ticks_ after join                  nobody
#include "runner.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace gkhi::bench {
namespace {

// A spin barrier that gives the processor away when the other thread is late: the machine may be shared.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}

  void Wait() {
    const long generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.store(generation + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; generation_.load(std::memory_order_acquire) == generation; ++spins) {
      _mm_pause();
      if (spins % 2000 == 1999) sched_yield();
    }
  }

 private:
  const int threads_;
  std::atomic<int> arrived_{0};
  std::atomic<long> generation_{0};
};

void Pin(int thread) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int wanted = thread;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

std::uint64_t FencedTicks() {
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

double Percentile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

__attribute__((noinline)) void RunEmpty(void *, long n) {
  for (long i = 0; i < n; ++i) asm volatile("" : : "r"(i));
}

class Evictor {
 public:
  explicit Evictor(std::size_t bytes) : bytes_(bytes, 1) {}

  void Touch() {
    unsigned sum = 0;
    for (std::size_t i = 0; i < bytes_.size(); i += 64) {
      bytes_[i] = static_cast<unsigned char>(bytes_[i] + 1);
      sum += bytes_[i];
    }
    asm volatile("" : : "r"(sum) : "memory");
  }

 private:
  std::vector<unsigned char> bytes_;
};

// One pass: ticks[thread][variant][round].
class Pass {
 public:
  Pass(const std::vector<Variant> &variants, int threads, const Options &options, bool cold)
      : variants_(variants),
        options_(options),
        cold_(cold),
        barrier_(threads),
        ticks_(static_cast<std::size_t>(threads)) {}

  void Run() {
    std::vector<std::thread> workers;
    for (int t = 0; t < static_cast<int>(ticks_.size()); ++t) workers.emplace_back([this, t] { Work(t); });
    for (auto &worker : workers) worker.join();
  }

  // Ticks per event of the slower thread, one per round.
  std::vector<double> Slowest(std::size_t variant) const {
    std::vector<double> out = ticks_[0][variant];
    for (const auto &thread : ticks_) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::max(out[i], thread[variant][i]);
    }
    return out;
  }

 private:
  void Work(int thread) {
    Pin(thread);
    Evictor evictor(cold_ ? options_.evict_bytes : 1);
    auto &mine = ticks_[static_cast<std::size_t>(thread)];
    mine.resize(variants_.size());
    const int rounds = cold_ ? options_.cold_rounds : options_.rounds;
    for (int round = -1; round < rounds; ++round) {  // round -1 warms up and is not kept
      for (std::size_t v = 0; v < variants_.size(); ++v) {
        const Variant &variant = variants_[v];
        const long n = cold_ ? 1 : variant.slice;
        if (cold_) evictor.Touch();
        barrier_.Wait();
        const std::uint64_t begin = FencedTicks();
        variant.run(variant.state[static_cast<std::size_t>(thread)], n);
        const std::uint64_t end = FencedTicks();
        if (round >= 0) mine[v].push_back(static_cast<double>(end - begin) / static_cast<double>(n));
      }
    }
  }

  const std::vector<Variant> &variants_;
  const Options &options_;
  const bool cold_;
  Barrier barrier_;
  std::vector<std::vector<std::vector<double>>> ticks_;
};

}  // namespace

double MeasureTscGhz() {
  const auto monotonic = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  };
  const double begin_ns = monotonic();
  const std::uint64_t begin = __rdtsc();
  while (monotonic() - begin_ns < 1e8) {
  }
  return static_cast<double>(__rdtsc() - begin) / (monotonic() - begin_ns);
}

std::vector<Result> RunAll(const std::vector<Variant> &all, int threads, double tsc_ghz,
                           const Options &options) {
  std::vector<Variant> variants;
  for (const auto &variant : all) {
    if (variant.skip.empty()) variants.push_back(variant);
  }
  // Not the first: what it follows is part of how cold it is, and the last variant of a round may come out of
  // the kernel.
  const std::size_t empty = variants.empty() ? 0 : 1;
  variants.insert(variants.begin() + static_cast<std::ptrdiff_t>(empty),
                  {.name = "empty", .run = RunEmpty, .skip = {}});
  std::vector<Result> results;
  for (const bool cold : {false, true}) {
    const std::size_t first = results.size();
    for (const auto &variant : variants) results.push_back({variant.name, threads, cold, {}});
    for (int p = 0; p < options.passes; ++p) {
      Pass pass(variants, threads, options, cold);
      pass.Run();
      const double nothing = cold ? Percentile(pass.Slowest(empty), 0.5) : 0;
      for (std::size_t v = 0; v < variants.size(); ++v) {
        const double ticks = Percentile(pass.Slowest(v), cold ? 0.5 : 0.1) - nothing;
        results[first + v].ns.push_back(ticks / tsc_ghz);
      }
    }
  }
  return results;
}

}  // namespace gkhi::bench
