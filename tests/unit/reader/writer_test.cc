// SPDX-License-Identifier: MIT
// From rings to traces: every event is either in the trace or in an exact count, whatever the writer does
// meanwhile.
#include <gtest/gtest.h>
#include <gkhi/reader/trace.hpp>
#include <gkhi/reader/trace_writer.hpp>

#include <atomic>
#include <thread>

#include "process_builder.hpp"

namespace gkhi::reader {
namespace {

using testing::Compact;
using testing::ProcessDir;
using testing::RingWriter;
using testing::Two;

struct Read {
  std::vector<uint64_t> x;
  Loss loss;
  std::vector<std::string> problems;
};

Read ReadTrace(const std::string &dir) {
  Read read;
  Result<TraceSet> set = TraceSet::Open(dir);
  EXPECT_TRUE(set) << set.error();
  if (!set) return read;
  Merger merger(*set);
  MergedRecord merged;
  while (merger.Next(&merged)) {
    if (merged.record->event->id == 1) read.x.push_back(merged.record->Get(0).Unsigned());
  }
  read.loss = merger.loss();
  read.problems = merger.problems();
  return read;
}

WriterTotals Snapshot(const ProcessDir &process, std::vector<std::string> *problems = nullptr) {
  std::vector<std::string> none;
  Result<WriterTotals> totals = WriteSnapshot(process.path(), testing::Head().clock, process.output(),
                                              problems != nullptr ? problems : &none);
  EXPECT_TRUE(totals) << totals.error();
  EXPECT_TRUE(problems != nullptr || none.empty()) << none[0];
  return totals ? *totals : WriterTotals{};
}

std::vector<uint64_t> Range(uint64_t from, uint64_t to) {
  std::vector<uint64_t> out;
  for (uint64_t i = from; i < to; i++) out.push_back(i);
  return out;
}

TEST(Snapshot, OfARingThatWasNeverWritten) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 4);
  EXPECT_EQ(Snapshot(process).events, 0u);
  EXPECT_TRUE(ReadTrace(process.output()).x.empty());
  EXPECT_FALSE(std::filesystem::exists(process.output() + "/main_0"));
}

TEST(Snapshot, NothingIsLeftOfOneThatCannotBegin) {
  for (const bool there : {false, true}) {
    ProcessDir process;
    RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 4);
    std::filesystem::remove(process.path() + "/metadata");
    std::filesystem::remove_all(process.output());
    if (there) std::filesystem::create_directories(process.output());
    std::vector<std::string> problems;
    EXPECT_FALSE(WriteSnapshot(process.path(), testing::Head().clock, process.output(), &problems));
    EXPECT_EQ(std::filesystem::exists(process.output()), there) << "only what we made goes";
  }
}

TEST(Snapshot, ClosesTheOpenPacketAtItsLastEvent) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 4, 2);
  for (uint64_t i = 0; i < 5; i++) ring.Put(1, 100 + i, Two(100 + i, i, 0));
  ring.Put(2, 200, Two(200, 7, 0));
  EXPECT_EQ(Snapshot(process).events, 6u);
  EXPECT_EQ(ReadTrace(process.output()).x, (std::vector<uint64_t>{0, 1, 2, 3, 4, 7}));
  Result<TraceSet> set = TraceSet::Open(process.output());
  ASSERT_TRUE(set);
  ASSERT_EQ(set->traces()[0]->streams().size(), 2u);
  EXPECT_EQ(set->traces()[0]->streams()[0].name, "main_1");
  EXPECT_EQ(set->traces()[0]->streams()[0].index.packets[0].end, 104u);
  EXPECT_EQ(set->traces()[0]->streams()[1].name, "main_none");
}

TEST(Snapshot, OverwrittenEventsAreAnExactNumber) {
  for (const uint64_t fired : {100u, 166u, 167u, 500u, 501u, 10000u}) {
    ProcessDir process;
    RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 4);
    for (uint64_t i = 0; i < fired; i++) ring.Put(0, i, Two(i, i, 0));
    const WriterTotals totals = Snapshot(process);
    EXPECT_EQ(totals.events + totals.overwritten, fired);
    const Read read = ReadTrace(process.output());
    EXPECT_EQ(read.x, Range(totals.overwritten, fired));
    EXPECT_EQ(read.loss.overwritten, totals.overwritten);
    EXPECT_EQ(read.loss.events(), totals.overwritten);
    // The open packet and the two before it are always there.
    EXPECT_GE(totals.events, std::min<uint64_t>(fired, 2 * 166));
  }
}

TEST(Snapshot, ManyTimesRoundSoThatTheCommitWordWrapsItsPacketNumber) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 8);
  for (uint64_t i = 0; i < 166 * 1000; i++) ring.Put(0, i, Two(i, i, 0));
  const WriterTotals totals = Snapshot(process);
  EXPECT_EQ(ReadTrace(process.output()).x, Range(totals.overwritten, 166 * 1000));
}

TEST(Snapshot, AnUnknownEventInTheOpenPacketIsTold) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 4);
  ring.Put(0, 5, Two(5, 1, 0));
  ring.Put(0, 6, Compact(6, 99, "12345678"));
  std::vector<std::string> problems;
  Snapshot(process, &problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0],
            process.output() +
                ": packet 0 at byte 0, byte 120: event id 99 is not in the metadata: its size is unknown");
  EXPECT_EQ(ReadTrace(process.output()).x, std::vector<uint64_t>{1});
}

TEST(Snapshot, CountsOnlyTheMetadataThatCounts) {
  // Half a block behind metadata_size: its writer was killed.
  ProcessDir process(testing::TwoEvents());
  process.tmp().Write("run/4711-1/metadata", testing::TwoEvents() + "/* gkhi-event {\"id\":3,\"prov");
  RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 4);
  ring.Put(0, 5, Two(5, 1, 0));
  Snapshot(process);
  Result<std::string> text = ReadFile(process.output() + "/metadata");
  EXPECT_EQ(*text,
            ComposeHead(Producer::Open(process.path())->Head(testing::Head().clock)) + testing::TwoEvents());
}

TEST(Snapshot, OfARingThatIsBeingWrittenLosesNothingSilently) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_OVERWRITE, 4096, 4);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (uint64_t i = 0; !stop; i++) {
      ring.Put(0, i, Two(i, i, ~i));
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  uint64_t seen = 0;
  for (int round = 0; round < 300; round++) {
    std::filesystem::remove_all(process.output());
    const WriterTotals totals = Snapshot(process);
    const Read read = ReadTrace(process.output());
    ASSERT_EQ(read.x.size(), totals.events) << round;
    ASSERT_TRUE(read.problems.empty()) << read.problems[0];
    // What is there is in order, and every gap is a counted one.
    if (read.x.empty()) continue;
    uint64_t gaps = 0;
    for (size_t i = 1; i < read.x.size(); i++) gaps += read.x[i] - read.x[i - 1] - 1;
    ASSERT_EQ(read.loss.overwritten, read.x[0]);
    ASSERT_EQ(read.loss.missing_events, gaps);
    seen += read.x.size();
  }
  stop = true;
  writer.join();
  EXPECT_GT(seen, 300u * 100);
}

TEST(Record, ConsumesAndAcknowledgesSoThatNothingIsLost) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_DISCARD, 4096, 4);
  Result<Producer> producer = Producer::Open(process.path());
  ASSERT_TRUE(producer) << producer.error();
  Result<std::unique_ptr<TraceWriter>> writer =
      TraceWriter::Create(std::move(*producer), testing::Head().clock, process.output());
  ASSERT_TRUE(writer) << writer.error();
  (*writer)->Refresh(true, "");
  EXPECT_EQ(ring.file()->readers, 1u);
  uint64_t i = 0;
  for (int round = 0; round < 50; round++) {
    for (int n = 0; n < 300; n++, i++) ASSERT_TRUE(ring.Put(0, i, Two(i, i, 0))) << i;
    ASSERT_TRUE((*writer)->Drain());
  }
  ASSERT_TRUE((*writer)->Finish());
  EXPECT_EQ((*writer)->totals().events, i);
  EXPECT_EQ((*writer)->totals().lost(), 0u);
  EXPECT_EQ((*writer)->EventsFired(), i);
  EXPECT_EQ(ReadTrace(process.output()).x, Range(0, i));
  writer = Error{""};
  EXPECT_EQ(ring.file()->readers, 0u);
}

TEST(Record, AFullBufferIsAnExactLoss) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_DISCARD, 4096, 4);
  uint64_t written = 0;
  for (uint64_t i = 0; i < 2000; i++) written += ring.Put(0, i, Two(i, i, 0));
  EXPECT_EQ(written, 4 * 166u);
  const WriterTotals totals = Snapshot(process);
  EXPECT_EQ(totals.events, written);
  EXPECT_EQ(totals.discarded, 2000 - written);
  const Read read = ReadTrace(process.output());
  EXPECT_EQ(read.x, Range(0, written));
  EXPECT_EQ(read.loss.discarded, 2000 - written);
  EXPECT_EQ(LossText(read.loss), "LOST 1336 events: 1336 discarded by the producer");
}

TEST(Record, OneChannelOnly) {
  ProcessDir process;
  RingWriter ring(process.Ring("main"), GKHI_RING_DISCARD, 4096, 4);
  RingWriter other(process.Ring("other"), GKHI_RING_DISCARD, 4096, 4);
  ring.Put(0, 1, Two(1, 1, 0));
  other.Put(0, 1, Two(1, 2, 0));
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(
      std::move(*Producer::Open(process.path())), testing::Head().clock, process.output());
  ASSERT_TRUE(writer);
  (*writer)->Refresh(true, "other");
  ASSERT_TRUE((*writer)->Finish());
  EXPECT_EQ(ReadTrace(process.output()).x, std::vector<uint64_t>{2});
}

TEST(Producer, ErrorsSayWhatWasWanted) {
  ProcessDir process;
  EXPECT_EQ(Producer::Open("/nonexistent").error(),
            "cannot open /nonexistent/control: No such file or directory");
  process.tmp().Write("run/4711-1/control", "short");
  EXPECT_EQ(
      Producer::Open(process.path()).error(),
      process.path() + "/control: found 5 bytes, wanted at least " + std::to_string(sizeof(gkhi_control)));
  process.tmp().Write("run/4711-1/control", std::string(sizeof(gkhi_control), '\0'));
  EXPECT_EQ(Producer::Open(process.path()).error(), process.path() + "/control: no magic of gkhi");
}

struct BadHead {
  const char *name;
  void (*change)(gkhi_ring_file *);
  const char *error;
};

class RingHeads : public ::testing::TestWithParam<BadHead> {};

TEST_P(RingHeads, AreCheckedBeforeAnythingIsBelieved) {
  ProcessDir process;
  const std::string path = process.Ring("main");
  {
    RingWriter ring(path, GKHI_RING_OVERWRITE, 4096, 4);
    GetParam().change(ring.file());
  }
  Result<RingFile> ring = RingFile::Open(path);
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error(), path + ": " + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, RingHeads,
    ::testing::Values(
        BadHead{"Magic", [](gkhi_ring_file *f) { f->magic++; }, "no ring magic"},
        BadHead{"Version", [](gkhi_ring_file *f) { f->version++; }, "another version of the ring"},
        BadHead{"SubBuffer", [](gkhi_ring_file *f) { f->subbuf_size = 5000; },
                "sub-buffer size out of range"},
        BadHead{"SubBufferZero", [](gkhi_ring_file *f) { f->subbuf_size = 0; },
                "sub-buffer size out of range"},
        BadHead{"SubBuffers", [](gkhi_ring_file *f) { f->n_subbufs = 2; },
                "number of sub-buffers out of range"},
        BadHead{"SubBuffersHuge", [](gkhi_ring_file *f) { f->n_subbufs = 1u << 31; },
                "number of sub-buffers out of range"},
        BadHead{"Class", [](gkhi_ring_file *f) { f->stream_class = 3; }, "unknown stream class or mode"},
        BadHead{"Streams", [](gkhi_ring_file *f) { f->n_streams = 9; }, "number of streams out of range"},
        BadHead{"Cpus", [](gkhi_ring_file *f) { f->n_cpus = ~0u; }, "number of streams out of range"},
        BadHead{"Stride", [](gkhi_ring_file *f) { f->stride = 4096; }, "stream larger than its stride"},
        BadHead{"StrideHuge", [](gkhi_ring_file *f) { f->stride = 1ull << 60; },
                "stream larger than its stride"},
        BadHead{"Data", [](gkhi_ring_file *f) { f->data_offset = ~0ull; }, "stream larger than its stride"},
        BadHead{"Cpu", [](gkhi_ring_file *f) { f->cpu_offset = f->stride - 8; },
                "counters outside the stream"},
        BadHead{"Hits", [](gkhi_ring_file *f) { f->hits_offset = ~0ull - 7; }, "counters outside the stream"},
        BadHead{"Odd", [](gkhi_ring_file *f) { f->lost_offset = 4; }, "offsets are not aligned"},
        BadHead{"More",
                [](gkhi_ring_file *f) {
                  f->n_cpus = 5;
                  f->n_streams = 6;
                },
                "file is too short"}),
    [](const auto &info) { return info.param.name; });

}  // namespace
}  // namespace gkhi::reader
