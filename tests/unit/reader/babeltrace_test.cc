// SPDX-License-Identifier: MIT
// babeltrace2 reads what ComposeHead() writes: all three stream classes, the same moments as ours, no word on
// stderr.
#include <gtest/gtest.h>
#include <gkhi/reader/trace.hpp>

#include <cstdio>

#include "packet_builder.hpp"

namespace gkhi::reader {
namespace {

using testing::Packet;
using testing::TraceDir;
using testing::Two;

std::string Output(const std::string &command) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  size_t n;
  while ((n = fread(buffer, 1, sizeof(buffer), pipe)) > 0) out.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0) << out;
  return out;
}

std::string InClass(std::string block, int stream_class) {
  for (size_t at = 0; (at = block.find("stream_id = 0", at)) != block.npos; at++)
    block[at + 12] = static_cast<char>('0' + stream_class);
  return block;
}

std::string Words(std::initializer_list<uint64_t> words) {
  std::string out;
  for (const uint64_t word : words) testing::PutWord(&out, word);
  return out;
}

TEST(Babeltrace, ReadsAllStreamClassesWithoutAWarning) {
  std::string metadata = ComposeHead(testing::Head());
  for (int i = 0; i < 3; i++) metadata += InClass(testing::TwoEvents(), i);
  TraceDir dir(metadata);
  const uint64_t t = (uint64_t{5} << GKHI_TIME_BITS) - 100;  // the 48 bits wrap behind the first event
  dir.Write("main_0", Packet(0, 0, t, t + 202, Two(t, 1, 2) + testing::Text(t + 202, 3, "a b")).Bytes());
  Packet wide(0, 0, t, t + 103,
              Words({t + 2, 1 | uint64_t{4712} << 32, 5, 6, t + 103, 1 | uint64_t{4713} << 32, 7, 8}));
  wide.header.stream_id = GKHI_STREAM_WIDE;
  dir.Write("wide_0", wide.Bytes());
  Packet noclock(0, 0, t + 1, t + 1, Words({1, 9, 10}));
  noclock.header.stream_id = GKHI_STREAM_NOCLOCK;
  dir.Write("noclock_0", noclock.Bytes());

  const std::string packet = "{ count_begin = 0, cpu_id = 0, pid = 4711, generation = 0, reserved = 0 }, ";
  // Ticks are exact; babeltrace2 makes nanoseconds of them in floating point.
  EXPECT_EQ(Output("babeltrace2 --clock-cycles --no-delta " + dir.path()),
            "[00001407374883553180] host:demo:(4711) p:two: " + packet + "{ x = 1, y = 2, end = { } }\n" +
                "[00001407374883553181] host:demo:(4711) p:two: " + packet +
                "{ x = 9, y = 10, end = { } }\n" + "[00001407374883553182] host:demo:(4711) p:two: " +
                packet + "{ tid = 4712 }, { x = 5, y = 6, end = { } }\n" +
                "[00001407374883553283] host:demo:(4711) p:two: " + packet +
                "{ tid = 4713 }, { x = 7, y = 8, end = { } }\n" +
                "[00001407374883553382] host:demo:(4711) p:text: " + packet +
                "{ n = 3, _pad = { }, s = \"a b\", end = { } }\n");
  Result<TraceSet> set = TraceSet::Open(dir.path());
  ASSERT_TRUE(set) << set.error();
  Merger merger(*set);
  MergedRecord merged;
  std::string ours;
  while (merger.Next(&merged)) {
    ours += std::to_string(merged.record->ticks) + " " + merged.record->event->full_name + " " +
            std::to_string(merged.record->tid) + "\n";
  }
  EXPECT_EQ(ours,
            "1407374883553180 p:two 0\n1407374883553181 p:two 0\n1407374883553182 p:two 4712\n"
            "1407374883553283 p:two 4713\n1407374883553382 p:text 0\n");
}

}  // namespace
}  // namespace gkhi::reader
