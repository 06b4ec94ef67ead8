// SPDX-License-Identifier: MIT
// The floor: what no tracer can beat. The clock read and bare stores of the same bytes, into a ring of the
// thread's own.
#include <x86intrin.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "sink.hpp"
#include "variant.hpp"

namespace gkhi::bench {
namespace {

// As large as one stream of the hooks' channel (hooks.cc), so that the caches see the same.
constexpr std::uint64_t kRingBytes = 1u << 20;

struct alignas(64) PrivateRing {
  std::uint64_t head = 0;
  alignas(64) unsigned char data[kRingBytes + 64] = {};
};

PrivateRing *NewRing() {
  auto *ring = new PrivateRing;
  std::memset(ring->data, 1, sizeof ring->data);  // the pages are there before the clock runs
  return ring;
}

__attribute__((noinline)) void FloorPair(void *state, long n) {
  auto *ring = static_cast<PrivateRing *>(state);
  for (long i = 0; i < n; ++i) {
    const std::uint64_t head = ring->head;
    auto *slot = reinterpret_cast<std::uint64_t *>(ring->data + (head & (kRingBytes - 1)));
    slot[0] = __rdtsc() << 16 | 1;
    slot[1] = static_cast<std::uint64_t>(i);
    slot[2] = static_cast<std::uint64_t>(n);
    asm volatile("" : : : "memory");
    ring->head = head + 24;
  }
}

__attribute__((noinline)) void FloorNoClock(void *state, long n) {
  auto *ring = static_cast<PrivateRing *>(state);
  for (long i = 0; i < n; ++i) {
    const std::uint64_t head = ring->head;
    auto *slot = reinterpret_cast<std::uint64_t *>(ring->data + (head & (kRingBytes - 1)));
    slot[0] = 1;
    slot[1] = static_cast<std::uint64_t>(i);
    slot[2] = static_cast<std::uint64_t>(n);
    asm volatile("" : : : "memory");
    ring->head = head + 24;
  }
}

// The string is copied as the 16 bytes that it is; no length is looked for.
__attribute__((noinline)) void FloorText(void *state, long n) {
  auto *ring = static_cast<PrivateRing *>(state);
  const char *text = kText;
  asm volatile("" : "+r"(text));
  for (long i = 0; i < n; ++i) {
    const std::uint64_t head = ring->head;
    auto *slot = reinterpret_cast<std::uint64_t *>(ring->data + (head & (kRingBytes - 1)));
    slot[0] = __rdtsc() << 16 | 1;
    slot[1] = static_cast<std::uint64_t>(i);
    slot[2] = static_cast<std::uint64_t>(n);
    slot[3] = 3;
    std::memcpy(slot + 4, text, 16);
    asm volatile("" : : : "memory");
    ring->head = head + 48;
  }
}

Variant Floor(const char *name, VariantFn run) {
  Variant variant{.name = name, .run = run, .skip = {}};
  for (auto &state : variant.state) state = NewRing();
  return variant;
}

}  // namespace

void AddFloors(std::vector<Variant> &out) {
  out.push_back(Floor("floor", FloorPair));
  out.push_back(Floor("floor_no_clock", FloorNoClock));
  out.push_back(Floor("floor_string", FloorText));
}

}  // namespace gkhi::bench
