// SPDX-License-Identifier: MIT
// The kernel's devices to a trace, over files that hold what devices give out.
#include <gtest/gtest.h>
#include <gkhi/reader/kernel_writer.hpp>
#include <gkhi/reader/trace.hpp>

#include "packet_builder.hpp"

namespace gkhi::reader {
namespace {

using testing::Compact;
using testing::Head;
using testing::kBootId;
using testing::Packet;
using testing::TraceDir;
using testing::Two;
using testing::TwoEvents;

constexpr const char *kThird =
    R"(/* gkhi-event {"id":3,"provider":"p","name":"two","layout":"0x460b6f75a9ba4fa4","fixed_words":2,"fields":[{"name":"x","type":"u","size":8,"offset":0},{"name":"y","type":"u","size":8,"offset":8}]} */
)";

KernelWriter::ClockSource Clock(const ClockRecord &clock) {
  return [clock](ClockKind) -> Result<ClockRecord> { return clock; };
}

struct Writing {
  TraceDir devices;
  TraceDir out{""};
  std::string dir = out.path() + "/kernel";
  std::unique_ptr<KernelWriter> writer;

  explicit Writing(const ClockRecord &clock = Head().clock) {
    Result<std::unique_ptr<KernelWriter>> made = KernelWriter::Create(devices.path(), Clock(clock), dir);
    EXPECT_TRUE(made) << made.error();
    if (made) writer = std::move(*made);
  }
};

struct Read {
  std::vector<uint64_t> x;
  Loss loss;
  ClockRecord clock;
};

Read ReadTrace(const std::string &dir) {
  Read read;
  Result<TraceSet> set = TraceSet::Open(dir);
  EXPECT_TRUE(set) << set.error();
  if (!set) return read;
  Merger merger(*set);
  MergedRecord merged;
  while (merger.Next(&merged)) read.x.push_back(merged.record->Get(0).Unsigned());
  read.loss = merger.loss();
  return read;
}

TEST(KernelWriter, CountsWhatIsWrittenAndWhatWasOverwritten) {
  Writing w;
  w.devices.Write("main.0", Packet(0, 0, 100, 200, Two(110, 1, 0) + Two(120, 2, 0)).Bytes() +
                                Packet(1, 2, 200, 300, Two(210, 3, 0)).Bytes() +
                                Packet(5, 9, 300, 400, Two(310, 4, 0) + Two(320, 5, 0)).Bytes());
  w.devices.Write("main.1", Packet(0, 0, 100, 200, Two(130, 6, 0)).Bytes());
  w.devices.Write("mainly.0", "of another channel");
  ASSERT_TRUE(w.writer->HasData("main"));
  EXPECT_FALSE(w.writer->HasData("mai"));
  ASSERT_TRUE(w.writer->Open("main"));
  Result<uint64_t> packets = w.writer->Drain();
  ASSERT_TRUE(packets) << packets.error();
  EXPECT_EQ(*packets, 4u);
  // The last one of a stream is counted at the end.
  EXPECT_EQ(w.writer->totals().events, 3u);
  EXPECT_EQ(w.writer->totals().overwritten, 6u);
  const Read read = ReadTrace(w.dir);
  EXPECT_EQ(read.x, (std::vector<uint64_t>{1, 2, 6, 3, 4, 5}));
  EXPECT_EQ(read.loss.missing_events, 6u);
}

TEST(KernelWriter, PutsMetadataBeforeThePacketsThatNeedIt) {
  Writing w;
  const std::string first = Packet(0, 0, 100, 200, Two(110, 1, 0)).Bytes();
  const std::string second = Packet(1, 1, 200, 300, Compact(210, 3, Two(0, 2, 0).substr(8))).Bytes();
  // A device may give out half a packet at a time.
  w.devices.Write("main.0", first + second.substr(0, 50));
  ASSERT_TRUE(w.writer->Open("main"));
  ASSERT_TRUE(w.writer->Drain());
  EXPECT_EQ(ReadTrace(w.dir).x, (std::vector<uint64_t>{1}));
  w.devices.Write("metadata", ComposeHead(Head()) + TwoEvents() + kThird);
  w.devices.Write("main.0", first + second);
  ASSERT_TRUE(w.writer->Drain());
  EXPECT_EQ(ReadTrace(w.dir).x, (std::vector<uint64_t>{1, 2}));
}

TEST(KernelWriter, TakesTheClockRecordThatOtherTracesOfTheBootHave) {
  ClockRecord shared = Head().clock;
  shared.frequency = 2000000001;
  Writing same(shared);
  Result<std::string> text = ReadFile(same.dir + "/metadata");
  ASSERT_TRUE(text);
  Result<Metadata> metadata = ParseMetadata(*text);
  ASSERT_TRUE(metadata) << metadata.error();
  EXPECT_EQ(metadata->head().clock, shared);
  shared.boot_id = "76543210-89ab-cdef-0123-456789abcdef";
  Writing other(shared);
  text = ReadFile(other.dir + "/metadata");
  ASSERT_TRUE(text);
  metadata = ParseMetadata(*text);
  ASSERT_TRUE(metadata) << metadata.error();
  EXPECT_EQ(metadata->head().clock, Head().clock);
}

TEST(KernelWriter, SaysWhatIsMissing) {
  TraceDir empty("");
  Result<std::unique_ptr<KernelWriter>> none =
      KernelWriter::Create(empty.path() + "/nowhere", Clock(Head().clock), empty.path() + "/kernel");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().find("/nowhere/metadata"), std::string::npos);
  Writing w;
  Status opened = w.writer->Open("main");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), w.devices.path() + " has no channel main");
  w.devices.Write("main.0", std::string(200, 'x'));
  ASSERT_TRUE(w.writer->Open("main"));
  Result<uint64_t> drained = w.writer->Drain();
  ASSERT_FALSE(drained);
  EXPECT_NE(drained.error().find("no packet where one was wanted"), std::string::npos);
}

}  // namespace
}  // namespace gkhi::reader
