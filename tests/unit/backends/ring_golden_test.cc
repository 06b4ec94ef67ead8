// SPDX-License-Identifier: MIT
// ring_golden_test.cc - the bytes of packets for a script of events, under a scripted clock. The golden files
// hold one 8-byte word a line; GKHI_WRITE_GOLDEN=1 writes them anew.
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "ring_fixture.hpp"

namespace gkhi_test {
namespace {

const char *const kClassNames[] = {"compact", "wide", "noclock"};

class RingGolden : public RingTest, public testing::WithParamInterface<uint32_t> {
 protected:
  // Two packets full and a third begun; a loss on the way.
  void Script() {
    TestEvent empty(0), two(2), text(1, 1, 16), texts(1, 2, 12), huge(1100);
    const auto pointer = [](const char *s) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(s)); };
    std::vector<uint64_t> big(1100);
    for (uint64_t i = 0; i < 110; i++) {
      fake_port.clock += 1000;
      ASSERT_EQ(Write(empty, 1, {0}), 0);
      ASSERT_EQ(Write(two, 2, {i, 0x1122334455667788}), 0);
      ASSERT_EQ(Write(text, 3, {i, pointer("eth0")}), 0);
      ASSERT_EQ(Write(texts, 4, {i, pointer("this is cut"), pointer(i % 2 ? "" : nullptr)}), 0);
      if (i == 60) {
        ASSERT_EQ(Write(huge, 5, big), -E2BIG);
      }
    }
  }

  // The content of all packets, with what depends on where the test runs taken out.
  std::string Words(uint32_t stream) {
    std::string out;
    char line[32];
    for (Packet &p : view().Packets(stream)) {
      p.header.cpu_id = 0;
      if (p.open) p.header.timestamp_end = p.header.content_size = p.header.events_discarded = 0;
      std::vector<uint64_t> words(sizeof(p.header) / 8);
      std::memcpy(words.data(), &p.header, sizeof(p.header));
      words.insert(words.end(), p.words.begin(), p.words.end());
      HideTids(&words);
      for (uint64_t w : words) {
        std::snprintf(line, sizeof(line), "%016" PRIx64 "\n", w);
        out += line;
      }
      out += "\n";
    }
    return out;
  }

  // In wide streams the thread's id is in the upper half of a record's second word.
  static void HideTids(std::vector<uint64_t> *words) {
    for (uint64_t &w : *words)
      if (w >> 32 == static_cast<uint64_t>(gettid())) w &= 0xffffffff;
  }
};

// "" or the first line that differs: the whole is long.
std::string FirstDifference(const std::string &got, const std::string &wanted) {
  std::stringstream a(got), b(wanted);
  std::string line_a, line_b;
  for (int n = 1;; n++) {
    const bool more_a = static_cast<bool>(std::getline(a, line_a)),
               more_b = static_cast<bool>(std::getline(b, line_b));
    if (!more_a && !more_b) return "";
    if (more_a != more_b || line_a != line_b)
      return "line " + std::to_string(n) + ": got " + (more_a ? line_a : "the end") + ", wanted " +
             (more_b ? line_b : "the end");
  }
}

TEST_P(RingGolden, BytesOfPackets) {
  const std::string path = std::string(GKHI_GOLDEN_DIR) + "/ring_" + kClassNames[GetParam()] + ".words";
  std::stringstream wanted;
  wanted << std::ifstream(path).rdbuf();
  // By sequences on this thread's cpu, and by lock on the fallback stream: the same bytes.
  for (const uint32_t n_cpus : {fake_port.n_cpus, 0u}) {
    fake_port.n_cpus = n_cpus;
    fake_port.clock = 1000;
    fake_port.clock_step = 0;  // however many streams there are to open
    Open(8192, 4, GetParam());
    fake_port.clock_step = 1;
    Script();
    const std::string got = Words(n_cpus == 0 ? 0 : stream());
    Close();
    if (std::getenv("GKHI_WRITE_GOLDEN") != nullptr) {
      std::ofstream(path) << got;
      continue;
    }
    ASSERT_FALSE(wanted.str().empty()) << "no golden file " << path;
    EXPECT_EQ(FirstDifference(got, wanted.str()), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, RingGolden, testing::Values(0u, 1u, 2u),
                         [](const auto &info) { return kClassNames[info.param]; });

}  // namespace
}  // namespace gkhi_test
