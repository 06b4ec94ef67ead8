// SPDX-License-Identifier: MIT
// What the tests of fast detours share: a stream made by hand, a hook that goes there, and a pad whose
// registers are known. gkhi_dispatch() keeps the frame.
#ifndef GKHI_TESTS_UNIT_RUNTIME_DETOUR_FAST_UTIL_HPP_
#define GKHI_TESTS_UNIT_RUNTIME_DETOUR_FAST_UTIL_HPP_

#include <gkhi/channel.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "detour_probe.hpp"
#include "detour_util.hpp"

extern "C" {
#include "port_posix.h"
#include "sequence.h"

ptrdiff_t gkhi_rseq_offset;
}

using detour_test::Argument;
using detour_test::Event;
using detour_test::Record;
using SitePatch = struct port_patch;

namespace {

constexpr uint64_t kFlagsMask = 0x8d5;  // CF PF AF ZF SF OF
constexpr uint32_t kSubbuf = 1u << 16;
const int kCpus = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));

gkhi_hook hook;
unsigned frame_words;
uint64_t frame[64];
uint64_t dispatched;
uint64_t operand_faults;

}  // namespace

extern "C" __attribute__((target("general-regs-only"))) void gkhi_dispatch(gkhi_hook *,
                                                                           const uint64_t *from) {
  for (unsigned i = 0; i < frame_words; i++) frame[i] = from[i];
  __atomic_fetch_add(&dispatched, 1, __ATOMIC_RELAXED);
}
extern "C" __attribute__((target("general-regs-only"))) void gkhi_faulted(gkhi_hook *of, uint64_t n) {
  if (of == &hook) operand_faults += n;
}

namespace {

// One stream for every cpu: counters, struct gkhi_ring_cpu, data of @size bytes.
class Ring {
 public:
  explicit Ring(uint32_t size = kSubbuf) : size_(size) {
    route_ = static_cast<gkhi_route *>(
        calloc(1, sizeof(gkhi_route) + static_cast<size_t>(kCpus) * sizeof(gkhi_ring_cpu *)));
    route_->n_cpus[GKHI_STREAM_COMPACT] = static_cast<uint32_t>(kCpus);
    const size_t counters = static_cast<size_t>(-SEQ_RC_HITS);
    for (int cpu = 0; cpu < kCpus; cpu++) {
      char *area = static_cast<char *>(mmap(nullptr, counters + SEQ_RC_DATA + size, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
      auto *rc = reinterpret_cast<gkhi_ring_cpu *>(area + counters);
      route_->cpu[cpu] = rc;
      rc->deadline = ~0u;
      rc->subbuf_size = size;
      rc->commit = GKHI_PACKET_HEADER - 8;
    }
  }
  ~Ring() {
    for (int cpu = 0; cpu < kCpus; cpu++)
      munmap(reinterpret_cast<char *>(route_->cpu[cpu]) + SEQ_RC_HITS, -SEQ_RC_HITS + SEQ_RC_DATA + size_);
    free(route_);
  }
  gkhi_route *route() { return route_; }
  gkhi_ring_cpu *cpu(int i) { return route_->cpu[i]; }
  // The last record's words, header first.
  const uint64_t *Last(int i, unsigned words) {
    return reinterpret_cast<const uint64_t *>(Data(i) + static_cast<uint32_t>(cpu(i)->commit) + 8 -
                                              8 * words);
  }
  const char *Data(int i) { return reinterpret_cast<const char *>(cpu(i)) + SEQ_RC_DATA; }
  uint64_t Hits() {
    uint64_t sum = 0;
    for (int i = 0; i < kCpus; i++)
      sum += reinterpret_cast<const uint64_t *>(reinterpret_cast<const char *>(cpu(i)) + SEQ_RC_HITS)[5];
    return sum;
  }
  uint64_t Committed() {
    uint64_t sum = 0;
    for (int i = 0; i < kCpus; i++) sum += gkhi_commit_count(cpu(i)->commit);
    return sum;
  }

 private:
  uint32_t size_;
  gkhi_route *route_;
};

void SetHook(Ring *ring, unsigned words) {
  hook.route = ring->route();
  hook.step = gkhi_commit_step(1 + words);
  hook.counter = 5;
  hook.header = 5;
  hook.fixed_words = static_cast<uint16_t>(words);
}

std::map<char *, const void *> installed;  // per pad: the jump that is there

void Install(char *pad, const void *entry) {
  const void *&ours = installed[pad];
  SitePatch p = {pad, entry, ours, 0};
  ASSERT_EQ(port_patch(&p, 1), 0) << p.status;
  ours = entry;
}

const void *Make(char *pad, Event &event, const std::vector<Argument> &arguments, gkhi_site_origin origin) {
  Record record(pad, arguments, origin);
  const void *entry = nullptr;
  gkhi_why why = GKHI_WHY_OK;
  EXPECT_EQ(port_detour(record.get(), &hook, event.get(), &entry, &why), 0);
  return entry;
}

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

class Fast : public testing::Test {
 protected:
  void SetUp() override {
    if (__rseq_size == 0) GTEST_SKIP() << "no restartable sequences here";
    gkhi_rseq_offset = __rseq_offset;
    CPU_ZERO(&all_);
    sched_getaffinity(0, sizeof(all_), &all_);
    for (cpu_ = 0; !CPU_ISSET(cpu_, &all_);) cpu_++;
    PinTo(cpu_);
  }
  void TearDown() override {
    for (auto &i : installed) Install(i.first, nullptr);
    sched_setaffinity(0, sizeof(all_), &all_);
  }
  void RandomState() {
    for (uint64_t &r : detour_probe_in.r) r = rng_();
    detour_probe_in.flags = 0x202 | (rng_() & kFlagsMask);
    for (auto &x : detour_probe_in.xmm)
      for (uint8_t &b : x) b = static_cast<uint8_t>(rng_());
    for (uint64_t &r : detour_probe_in.red) r = rng_();
  }
  static void ExpectUndisturbed(bool flags) {
    for (int i = 0; i < 16; i++) EXPECT_EQ(detour_probe_out.r[i], detour_probe_in.r[i]) << "register " << i;
    if (flags) {
      EXPECT_EQ(detour_probe_out.flags & kFlagsMask, detour_probe_in.flags & kFlagsMask);
    }
    EXPECT_EQ(memcmp(detour_probe_out.xmm, detour_probe_in.xmm, sizeof(detour_probe_in.xmm)), 0);
    EXPECT_EQ(memcmp(detour_probe_out.red, detour_probe_in.red, sizeof(detour_probe_in.red)), 0);
  }
  std::mt19937_64 rng_{7};
  cpu_set_t all_;
  int cpu_ = 0;
};

}  // namespace

#endif  // GKHI_TESTS_UNIT_RUNTIME_DETOUR_FAST_UTIL_HPP_
