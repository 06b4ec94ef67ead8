// SPDX-License-Identifier: MIT
// Packets and records: time, gaps, and damage to every class of byte. What is lost is counted exactly.
#include <gtest/gtest.h>
#include <gkhi/reader/stream.hpp>

#include <functional>

#include "packet_builder.hpp"

namespace gkhi::reader {
namespace {

using testing::AsBytes;
using testing::Compact;
using testing::Packet;
using testing::Two;

struct Outcome {
  std::vector<uint64_t> x;  // of the p:two records
  std::vector<uint64_t> ticks;
  Loss loss;
  std::vector<std::string> problems;
};

Outcome ReadAll(const std::string &file) {
  const Result<Metadata> metadata = ParseMetadata(ComposeHead(testing::Head()) + testing::TwoEvents());
  EXPECT_TRUE(metadata);
  const StreamIndex index = IndexStream(AsBytes(file), testing::kUuid);
  StreamCursor cursor(*metadata, index, AsBytes(file));
  Outcome out;
  while (const Record *record = cursor.Next()) {
    if (record->event->id == 1) out.x.push_back(record->Get(0).Unsigned());
    out.ticks.push_back(record->ticks);
  }
  out.loss = cursor.loss();
  out.problems = cursor.problems();
  return out;
}

// Packet @i of a stream in which each holds three events: x = 3i, 3i + 1, 3i + 2.
Packet Three(uint64_t i) {
  const uint64_t t = 1000 * i;
  return Packet(i, 3 * i, t, t + 20,
                Two(t, 3 * i, 0) + Two(t + 10, 3 * i + 1, 0) + Two(t + 20, 3 * i + 2, 0));
}

std::string Stream(size_t n, const std::function<void(size_t, Packet *)> &change = nullptr) {
  std::string file;
  for (size_t i = 0; i < n; i++) {
    Packet packet = Three(i);
    if (change) change(i, &packet);
    file += packet.Bytes();
  }
  return file;
}

constexpr size_t kPacketBytes = GKHI_PACKET_HEADER + 3 * 24;

TEST(Stream, ReadsAll) {
  const Outcome out = ReadAll(Stream(3));
  EXPECT_EQ(out.x, (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_FALSE(out.loss.any()) << LossText(out.loss);
  EXPECT_EQ(LossText(out.loss), "no event lost");
}

TEST(Stream, EmptyFileAndEmptyPacket) {
  EXPECT_FALSE(ReadAll("").loss.any());
  const Outcome out = ReadAll(Packet(0, 0, 5, 5, "").Bytes() + Packet(1, 0, 6, 6, Two(6, 1, 1)).Bytes());
  EXPECT_EQ(out.x, std::vector<uint64_t>{1});
  EXPECT_FALSE(out.loss.any());
}

TEST(Stream, TimeOf48BitsWrapsInsideAndBetweenPackets) {
  const uint64_t wrap = uint64_t{3} << GKHI_TIME_BITS;
  const uint64_t later = (uint64_t{7} << GKHI_TIME_BITS) + 100;
  const Outcome out =
      ReadAll(Packet(0, 0, wrap - 100, wrap + 50, Two(wrap - 100, 1, 0) + Two(wrap + 50, 2, 0)).Bytes() +
              Packet(1, 2, later, later, Two(later, 3, 0)).Bytes());
  EXPECT_EQ(out.ticks, (std::vector<uint64_t>{wrap - 100, wrap + 50, later}));
  EXPECT_FALSE(out.loss.any());
}

TEST(Stream, UnusedSpaceBehindTheContentIsSkipped) {
  const Outcome out = ReadAll(Stream(3, [](size_t, Packet *p) { p->header.packet_size = 8 * 4096; }));
  EXPECT_EQ(out.x.size(), 9u);
  EXPECT_FALSE(out.loss.any());
}

TEST(Stream, DiscardedAndOverwrittenAreTold) {
  std::string file;
  for (size_t i = 5; i < 7; i++) {
    Packet packet = Three(i);
    packet.header.events_discarded = i;
    file += packet.Bytes();
  }
  const Outcome out = ReadAll(file);
  EXPECT_EQ(out.loss.overwritten, 15u);
  EXPECT_EQ(out.loss.discarded, 6u);
  EXPECT_EQ(LossText(out.loss),
            "LOST 21 events: 6 discarded by the producer, 15 overwritten before the snapshot");
}

TEST(Stream, AMissingPacketIsAnExactNumberOfEvents) {
  const Outcome out = ReadAll(Three(0).Bytes() + Three(3).Bytes());
  EXPECT_EQ(out.x, (std::vector<uint64_t>{0, 1, 2, 9, 10, 11}));
  EXPECT_EQ(out.loss.missing_packets, 2u);
  EXPECT_EQ(out.loss.missing_events, 6u);
  EXPECT_EQ(LossText(out.loss), "LOST 6 events: 6 in missing packets (2 packets missing)");
}

TEST(Stream, UnknownIdIsNotGuessedAt) {
  const Outcome out =
      ReadAll(Packet(0, 0, 0, 30, Two(1, 7, 0) + Compact(2, 9, "12345678") + Two(3, 8, 0)).Bytes() +
              Packet(1, 3, 31, 40, Two(31, 9, 0)).Bytes());
  EXPECT_EQ(out.x, (std::vector<uint64_t>{7, 9}));
  EXPECT_EQ(out.loss.damaged_events, 2u);
  EXPECT_EQ(out.loss.damaged_packets, 1u);
  EXPECT_FALSE(out.loss.at_least);
  ASSERT_EQ(out.problems.size(), 1u);
  EXPECT_EQ(out.problems[0],
            "packet 0 at byte 0, byte 120: event id 9 is not in the metadata: its size is unknown");
}

TEST(Stream, ALastPacketThatIsDamagedLosesAtLeastOne) {
  const Outcome out = ReadAll(Packet(0, 0, 0, 30, Two(1, 7, 0) + Compact(2, 9, "12345678")).Bytes());
  EXPECT_EQ(LossText(out.loss),
            "LOST at least 1 event: 1 in damaged packets (1 packet damaged, 16 bytes unreadable)");
}

TEST(Stream, TimeOutsideThePacketIsDamage) {
  const Outcome back = ReadAll(Packet(0, 0, 100, 200, Two(150, 1, 0) + Two(140, 2, 0)).Bytes());
  EXPECT_EQ(back.x, std::vector<uint64_t>{1});
  EXPECT_EQ(back.problems[0],
            "packet 0 at byte 0, byte 120: p:two at tick 281474976710796 is outside 150 to 200");
  const Outcome late = ReadAll(Packet(0, 0, 100, 200, Two(201, 1, 0)).Bytes());
  EXPECT_TRUE(late.x.empty());
}

TEST(Stream, AStringWithoutItsEndDoesNotLeaveThePacket) {
  std::string payload(8, '\0');
  payload += "0123456789abcdef";  // no NUL, and the content ends
  const Outcome out = ReadAll(Packet(0, 0, 0, 9, Compact(1, 2, payload)).Bytes());
  EXPECT_TRUE(out.ticks.empty());
  EXPECT_EQ(out.problems[0], "packet 0 at byte 0, byte 96: p:text does not fit its schema, or the content");
}

// Damage to one class of byte in packet 2 of 5. No packet but that one may suffer, and the loss is exact.
struct Damage {
  const char *name;
  std::function<void(Packet *)> change;
  size_t read;  // events that are still read
};

class Damaged : public ::testing::TestWithParam<Damage> {};

TEST_P(Damaged, OnlyThatPacketSuffers) {
  const std::string file = Stream(5, [](size_t i, Packet *packet) {
    if (i == 2) GetParam().change(packet);
  });
  const Outcome out = ReadAll(file);
  EXPECT_EQ(out.x.size(), GetParam().read);
  EXPECT_EQ(out.x.size() + out.loss.events(), 15u) << LossText(out.loss);
  EXPECT_EQ(out.x.front(), 0u);
  EXPECT_EQ(out.x.back(), 14u);
  EXPECT_FALSE(out.loss.at_least);
  EXPECT_TRUE(out.loss.any());
}

INSTANTIATE_TEST_SUITE_P(
    EveryClassOfByte, Damaged,
    ::testing::Values(Damage{"Magic", [](Packet *p) { p->header.magic ^= 1; }, 12},
                      Damage{"Uuid", [](Packet *p) { p->header.uuid[7] ^= 0x80; }, 12},
                      Damage{"StreamIdUnknown", [](Packet *p) { p->header.stream_id = 77; }, 12},
                      Damage{"StreamIdOther", [](Packet *p) { p->header.stream_id = 2; }, 12},
                      Damage{"BeginBeforeLast", [](Packet *p) { p->header.timestamp_begin = 3; }, 12},
                      Damage{"BeginAfterEnd", [](Packet *p) { p->header.timestamp_begin = 1 << 30; }, 12},
                      Damage{"EndHuge", [](Packet *p) { p->header.timestamp_end = ~0ull; }, 12},
                      Damage{"EndLate", [](Packet *p) { p->header.timestamp_end = 1 << 20; }, 12},
                      Damage{"ContentTooLarge", [](Packet *p) { p->header.content_size *= 2; }, 12},
                      Damage{"ContentSmaller", [](Packet *p) { p->header.content_size -= 24 * 8; }, 14},
                      Damage{"ContentOdd", [](Packet *p) { p->header.content_size += 1; }, 12},
                      Damage{"ContentTiny", [](Packet *p) { p->header.content_size = 8; }, 12},
                      Damage{"SizeSmaller", [](Packet *p) { p->header.packet_size = 100 * 8; }, 12},
                      Damage{"SizeHuge", [](Packet *p) { p->header.packet_size = ~7ull; }, 12},
                      Damage{"SequenceLow", [](Packet *p) { p->header.packet_seq_num = 0; }, 12},
                      Damage{"SequenceHigh", [](Packet *p) { p->header.packet_seq_num = 1ull << 60; }, 12},
                      Damage{"DiscardedHigh", [](Packet *p) { p->header.events_discarded = 1ull << 60; }, 12},
                      Damage{"CountHigh", [](Packet *p) { p->header.count_begin = 1ull << 60; }, 12},
                      Damage{"CountLow", [](Packet *p) { p->header.count_begin = 0; }, 12},
                      Damage{"Cpu", [](Packet *p) { p->header.cpu_id = 9; }, 12},
                      Damage{"Pid", [](Packet *p) { p->header.pid = 9; }, 12},
                      Damage{"RecordId", [](Packet *p) { p->body[24] = 0x33; }, 13},
                      Damage{"RecordIdZero", [](Packet *p) { p->body[0] = 0; }, 12},
                      Damage{"RecordTime", [](Packet *p) { p->body[24 + 5] = 0x77; }, 13},
                      Damage{"BytesGone", [](Packet *p) { p->body.resize(24), p->header.packet_size = 1; },
                             12}),
    [](const auto &info) { return info.param.name; });

TEST(Stream, ASizeThatReachesOverTheNextPacketsIsCutThere) {
  const std::string file = Stream(5, [](size_t i, Packet *p) {
    if (i == 1) p->header.packet_size = 8 * (2 * kPacketBytes + 8);
  });
  // Bytes() padded the packet; take the padding out again.
  std::string cut = file;
  cut.erase(2 * kPacketBytes, kPacketBytes + 8);
  const Outcome out = ReadAll(cut);
  EXPECT_EQ(out.x.size(), 15u);
  EXPECT_EQ(out.loss.events(), 0u);
  EXPECT_EQ(out.loss.damaged_packets, 1u);
}

TEST(Stream, ResynchronisesBehindForeignBytesOfAnyLength) {
  for (const size_t length : {1u, 7u, 8u, 95u, 4096u}) {
    const std::string file = Three(0).Bytes() + std::string(length, '\xee') + Three(1).Bytes();
    const Outcome out = ReadAll(file);
    EXPECT_EQ(out.x.size(), 6u) << length;
    EXPECT_EQ(out.loss.damaged_bytes, length);
    EXPECT_EQ(out.loss.events(), 0u);
  }
}

TEST(Stream, AFileThatEndsInsideAPacketGivesItsWholeRecords) {
  const std::string file = Stream(2);
  for (size_t cut = kPacketBytes + 1; cut < 2 * kPacketBytes; cut++) {
    const Outcome out = ReadAll(file.substr(0, cut));
    const size_t body = cut - kPacketBytes;
    const size_t records = body < GKHI_PACKET_HEADER ? 0 : (body - GKHI_PACKET_HEADER) / 24;
    EXPECT_EQ(out.x.size(), 3 + records) << cut;
    EXPECT_TRUE(out.loss.any()) << cut;
  }
}

TEST(Stream, TheFirstHeaderMayBeTheBadOne) {
  const Outcome out = ReadAll(Stream(4, [](size_t i, Packet *p) {
    if (i == 0) p->header.packet_seq_num = 1ull << 50;
  }));
  EXPECT_EQ(out.x.size(), 9u);
  EXPECT_EQ(out.loss.missing_events, 3u);
  EXPECT_EQ(out.loss.overwritten, 0u);
}

}  // namespace
}  // namespace gkhi::reader
