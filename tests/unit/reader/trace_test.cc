// SPDX-License-Identifier: MIT
// Directories of one and of several producers, merging, metadata and clock records.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <gkhi/reader/trace.hpp>

#include <random>
#include <thread>

#include "packet_builder.hpp"

namespace gkhi::reader {
namespace {

using testing::Head;
using testing::Packet;
using testing::TraceDir;
using testing::Two;
using testing::TwoEvents;

std::vector<uint64_t> MergedTicks(const std::string &path) {
  Result<TraceSet> set = TraceSet::Open(path);
  EXPECT_TRUE(set) << set.error();
  if (!set) return {};
  Merger merger(*set);
  MergedRecord merged;
  std::vector<uint64_t> ticks;
  while (merger.Next(&merged)) ticks.push_back(merged.record->ticks);
  EXPECT_EQ(merger.events(), ticks.size());
  return ticks;
}

TEST(Trace, MergesStreamsByTime) {
  TraceDir dir;
  std::mt19937 random(1);
  std::vector<uint64_t> all;
  for (int cpu = 0; cpu < 9; cpu++) {
    std::vector<uint64_t> times;
    for (int i = 0; i < 200; i++) times.push_back(random() % 100000);
    std::sort(times.begin(), times.end());
    std::string records;
    for (uint64_t t : times) records += Two(t, 0, 0);
    Packet packet(0, 0, times.front(), times.back(), records);
    packet.header.cpu_id = cpu;
    dir.Write("main_" + std::to_string(cpu), packet.Bytes());
    all.insert(all.end(), times.begin(), times.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(MergedTicks(dir.path()), all);
}

TEST(Trace, MergesProducersOfDifferentClocksByRealTime) {
  TraceDir dir;
  std::filesystem::remove(dir.path() + "/metadata");
  TraceHead slow = Head();
  slow.clock.frequency = 1000000000;
  dir.Write("a/metadata", ComposeHead(Head()) + TwoEvents());
  dir.Write("a/main_0", Packet(0, 0, 100, 300, Two(100, 0, 0) + Two(300, 0, 0)).Bytes());  // 50 ns, 150 ns
  dir.Write("b/metadata", ComposeHead(slow) + TwoEvents());
  dir.Write("b/main_0", Packet(0, 0, 60, 200, Two(60, 0, 0) + Two(200, 0, 0)).Bytes());
  EXPECT_EQ(MergedTicks(dir.path()), (std::vector<uint64_t>{100, 60, 300, 200}));
}

TEST(Trace, AProducerThatCannotBeReadDoesNotHideTheOthers) {
  TraceDir dir;
  std::filesystem::remove(dir.path() + "/metadata");
  dir.Write("a/metadata", "nonsense");
  dir.Write("b/metadata", ComposeHead(Head()) + TwoEvents());
  dir.Write("b/main_0", Packet(0, 0, 1, 1, Two(1, 0, 0)).Bytes());
  EXPECT_EQ(MergedTicks(dir.path()), std::vector<uint64_t>{1});
  Result<TraceSet> set = TraceSet::Open(dir.path());
  ASSERT_EQ(set->problems().size(), 1u);
  EXPECT_EQ(set->problems()[0].find(dir.path() + "/a/metadata: no \"/* gkhi-trace\" comment"), 0u);
}

TEST(Trace, ErrorsSayWhatWasWanted) {
  TraceDir dir("TSDL of somebody else");
  Result<TraceSet> foreign = TraceSet::Open(dir.path());
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error(),
            dir.path() +
                "/metadata: no \"/* gkhi-trace\" comment: wanted metadata of gkhi (babeltrace2 reads "
                "other CTF traces)");
  std::filesystem::remove(dir.path() + "/metadata");
  EXPECT_EQ(TraceSet::Open(dir.path()).error(),
            dir.path() + ": no trace: wanted a file \"metadata\" here or in a folder of it");
  EXPECT_EQ(TraceSet::Open(dir.path() + "/none").error(),
            "cannot open " + dir.path() + "/none: No such file or directory");
}

TEST(Metadata, HeadSurvivesTheRoundTrip) {
  TraceHead head = Head();
  head.env.comm = "a\"*/\\\n\xff";
  head.clock.realtime_offset = -1;
  Result<Metadata> metadata = ParseMetadata(ComposeHead(head));
  ASSERT_TRUE(metadata) << metadata.error();
  EXPECT_EQ(metadata->head().uuid, head.uuid);
  EXPECT_EQ(metadata->head().clock, head.clock);
  EXPECT_EQ(metadata->head().env.comm, "a\"*/\\\n\xef\xbf\xbd");
  EXPECT_EQ(metadata->head().env.pid, 4711u);
}

TEST(Metadata, AnIdWithTwoSchemasIsNotTrusted) {
  // The same id and name, but "y" is called "z".
  std::string other = TwoEvents();
  other.replace(other.find("0x460b6f75a9ba4fa4"), 18, "0x4aed3de872df1651");
  other.replace(other.find("\"name\":\"y\""), 10, "\"name\":\"z\"");
  Result<Metadata> metadata = ParseMetadata(ComposeHead(Head()) + TwoEvents() + other);
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->Find(1), nullptr);
  ASSERT_NE(metadata->Find(2), nullptr);
  ASSERT_EQ(metadata->problems().size(), 1u);
  EXPECT_EQ(metadata->problems()[0],
            "id 1 is p:two (layout 0x460b6f75a9ba4fa4) and p:two (layout 0x4aed3de872df1651)");
}

TEST(Metadata, OtherVersionsAreRefused) {
  std::string text = ComposeHead(Head());
  text.replace(text.find("\"version\":1"), 11, "\"version\":2");
  EXPECT_EQ(ParseMetadata(text).error(),
            "gkhi-trace: found version 2, wanted 1: this trace needs another gkhi");
}

TEST(Clock, ConvertsWithoutOverflow) {
  ClockRecord clock{ClockKind::kTsc, testing::kBootId, 2100000000, 0, 0};
  EXPECT_EQ(clock.ToNs(2100000000), 1000000000);
  EXPECT_EQ(clock.ToNs(21), 10);
  // 100 years
  EXPECT_EQ(clock.ToNs(2100000000ull * 86400 * 36500), 86400ll * 36500 * 1000000000);
}

TEST(Clock, TextSurvivesAndErrorsNameTheLine) {
  const ClockRecord clock = Head().clock;
  Result<ClockRecord> again = ParseClock(FormatClock(clock));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(*again, clock);
  EXPECT_EQ(ParseClock("x\n").error(), "clock: line 1: found \"x\", wanted \"gkhi-clock 1\"");
  EXPECT_EQ(ParseClock("gkhi-clock 1\nfrequency=0\n").error(),
            "clock: line 2: found \"frequency=0\", wanted KEY=VALUE as in docs/format-trace.md");
}

TEST(Clock, OncePerBootForEverybody) {
  TraceDir dir("");
  std::vector<Result<ClockRecord>> records(8, Error{"not run"});
  std::vector<std::thread> threads;
  for (auto &record : records) threads.emplace_back([&] { record = BootClock(dir.path(), ClockKind::kTsc); });
  for (std::thread &thread : threads) thread.join();
  for (const auto &record : records) {
    ASSERT_TRUE(record) << record.error();
    EXPECT_EQ(*record, *records[0]);
  }
  // What was measured tells the time: within a millisecond of the clocks themselves.
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t real = now.tv_sec * 1000000000 + now.tv_nsec;
  EXPECT_NEAR(static_cast<double>(records[0]->ToRealtime(ClockNow(ClockKind::kTsc)) - real), 0, 1e6);
}

TEST(Clock, ARecordOfAnotherBootIsReplaced) {
  TraceDir dir("");
  dir.Write("clock-monotonic", FormatClock({ClockKind::kMonotonic, testing::kBootId, 1000000000, 1, 2}));
  Result<ClockRecord> clock = BootClock(dir.path(), ClockKind::kMonotonic);
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->boot_id, BootId());
  EXPECT_EQ(clock->frequency, 1000000000u);
  EXPECT_EQ(clock->monotonic_offset, 0);
}

// A folder that somebody else made: what is no file holds nobody up.
TEST(TraceSet, FifosAndDevicesAreNoFiles) {
  for (const char *name : {"metadata", "main_0", "main_1"}) {
    TraceDir dir;
    dir.Write("main_0", Packet(0, 0, 0, 0, testing::Two(0, 1, 2)).Bytes());
    const std::string path = dir.path() + "/" + name;
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    alarm(20);  // of a test that hangs
    Result<TraceSet> set = TraceSet::Open(dir.path());
    if (set) {
      Merger merger(*set);
      MergedRecord merged;
      while (merger.Next(&merged)) {
      }
    }
    alarm(0);
  }
  alarm(20);
  EXPECT_EQ(ReadFile("/dev/zero").error(), "cannot read /dev/zero: not a regular file");
  alarm(0);
  EXPECT_TRUE(ReadFile("/proc/self/status"));
}

}  // namespace
}  // namespace gkhi::reader
