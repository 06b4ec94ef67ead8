// SPDX-License-Identifier: MIT
// ring_test.cc - the ring, one thread: records, packets, limits, losses.
#include "ring_fixture.hpp"

#include <unistd.h>

#include <algorithm>

namespace gkhi_test {
namespace {

TEST_F(RingTest, FileDescribesItself) {
  Open(4096, 4);
  const gkhi_ring_file &f = view().file();
  EXPECT_EQ(f.magic, GKHI_RING_MAGIC);
  EXPECT_EQ(f.version, static_cast<uint32_t>(GKHI_RING_VERSION));
  EXPECT_EQ(f.n_streams, fake_port.n_cpus + 1);
  EXPECT_EQ(f.stride % GKHI_RING_PAGE, 0u);
  EXPECT_EQ(GKHI_RING_PAGE + f.stride * f.n_streams, fake_port.shm_size);
  EXPECT_STREQ(f.channel, "main");
  EXPECT_STREQ(fake_port.shm_name, "main.ring");
  EXPECT_EQ(std::memcmp(f.uuid, fake_port.uuid, 16), 0);
  for (uint32_t i = 0; i < f.n_streams; i++) {
    const std::vector<Packet> packets = view().Packets(i);
    ASSERT_EQ(packets.size(), 1u);
    EXPECT_EQ(packets[0].count, 0u);
    EXPECT_EQ(packets[0].header.cpu_id, i < fake_port.n_cpus ? i : GKHI_CPU_NONE);
  }
}

TEST_F(RingTest, BadGeometryIsRefusedAndNothingIsLeftBehind) {
  const struct {
    uint32_t subbuf_size, n_subbufs, stream_class, mode;
  } bad[] = {{4095, 4, 0, 0}, {2048, 4, 0, 0}, {GKHI_SUBBUF_MAX * 2, 4, 0, 0},
             {4096, 3, 0, 0}, {4096, 2, 0, 0}, {GKHI_SUBBUF_MAX, 128, 0, 0},
             {4096, 4, 3, 0}, {4096, 4, 0, 2}};
  for (const auto &b : bad) {
    gkhi_channel ch{};
    std::strcpy(ch.config.name, "bad");
    ch.config.subbuf_size = b.subbuf_size;
    ch.config.n_subbufs = b.n_subbufs;
    ch.config.stream_class = b.stream_class;
    ch.config.mode = b.mode;
    EXPECT_EQ(gkhi_backend_find("ring")->open(&ch), -EINVAL) << b.subbuf_size << " " << b.n_subbufs;
  }
}

TEST_F(RingTest, FailuresOfTheWorldLeaveNothingBehind) {
  gkhi_channel ch{};
  std::strcpy(ch.config.name, "main");
  fake_port.shm_fails = true;
  EXPECT_EQ(gkhi_backend_find("ring")->open(&ch), -ENOSPC);
  fake_port.shm_fails = false;
  fake_port.alloc_fails = true;
  EXPECT_EQ(gkhi_backend_find("ring")->open(&ch), -ENOMEM);
}

TEST_F(RingTest, NoBackendOfThatName) {
  EXPECT_EQ(gkhi_backend_find("rings"), nullptr);
}

// Every class, every number of words that has a stub and one that has none; by stub and by write().
class RingShapes : public RingTest,
                   public testing::WithParamInterface<std::tuple<uint32_t, uint16_t, uint32_t>> {};

TEST_P(RingShapes, RecordsComeBackByStubAndByWrite) {
  const auto [stream_class, words, clock_kind] = GetParam();
  fake_port.clock_kind = clock_kind;
  Open(4096, 8, stream_class);
  TestEvent event(words);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 77, &priv);
  const bool fast =
      words <= 16 && stream() != fallback() && (clock_kind == 1 || stream_class == GKHI_STREAM_NOCLOCK);
  EXPECT_EQ(hook.stub != gkhi_stub_generic, fast);

  std::vector<std::vector<uint64_t>> sent;
  for (uint64_t i = 0; i < 40; i++) {
    std::vector<uint64_t> frame(words + 1u);
    for (uint16_t w = 0; w < words; w++) frame[w] = i * 1000 + w;
    if (i % 2) {
      ASSERT_EQ(Write(event, 77, frame), 0);
    } else {
      ASSERT_TRUE(fake_site_call(&hook, frame.data(), words)) << "a register was changed";
    }
    frame.resize(words);
    sent.push_back(frame);
  }
  const std::vector<Record> got = SplitFixed(view().Packets(stream()), stream_class, words);
  ASSERT_EQ(got.size(), sent.size());
  for (size_t i = 0; i < got.size(); i++) {
    EXPECT_EQ(got[i].payload, sent[i]);
    EXPECT_EQ(got[i].id, 77u);
    EXPECT_EQ(got[i].tid, stream_class == GKHI_STREAM_WIDE ? static_cast<uint32_t>(gettid()) : 0);
    EXPECT_GE(got[i].time, got[i == 0 ? 0 : i - 1].time);
  }
  EXPECT_EQ(view().hits(stream(), 77), 40u);
}

INSTANTIATE_TEST_SUITE_P(All, RingShapes,
                         testing::Combine(testing::Values(0u, 1u, 2u),
                                          testing::Values<uint16_t>(0, 1, 2, 3, 5, 8, 16, 17, 30),
                                          testing::Values(1u, 2u)));

TEST_F(RingTest, PacketsFollowOneAnother) {
  Open(4096, 8);
  TestEvent event(2);
  const size_t per_packet = (4096 - GKHI_PACKET_HEADER) / 24;
  for (uint64_t i = 0; i < per_packet * 3 + 1; i++) ASSERT_EQ(Write(event, 5, {i, ~i}), 0);
  const std::vector<Packet> packets = view().Packets(stream());
  ASSERT_EQ(packets.size(), 4u);
  for (size_t i = 0; i < packets.size(); i++) {
    const gkhi_packet &h = packets[i].header;
    EXPECT_EQ(h.magic, GKHI_CTF_MAGIC);
    EXPECT_EQ(h.packet_seq_num, i);
    EXPECT_EQ(h.count_begin, i * per_packet);
    EXPECT_EQ(h.packet_size, 4096u * 8);
    EXPECT_EQ(h.pid, 4711u);
    EXPECT_EQ(packets[i].count, i < 3 ? per_packet : 1);
    EXPECT_LE(i == 0 ? 0 : packets[i - 1].header.timestamp_end, h.timestamp_begin);
  }
}

TEST_F(RingTest, OverwriteKeepsTheNewest) {
  Open(4096, 4);
  TestEvent event(2);
  const size_t per_packet = (4096 - GKHI_PACKET_HEADER) / 24;
  const uint64_t n = per_packet * 100 + 7;
  for (uint64_t i = 0; i < n; i++) ASSERT_EQ(Write(event, 5, {i, ~i}), 0);
  const std::vector<Packet> packets = view().Packets(stream());
  ASSERT_EQ(packets.size(), 3u);
  const std::vector<Record> records = SplitFixed(packets, GKHI_STREAM_COMPACT, 2);
  ASSERT_EQ(records.size(), 2 * per_packet + 7);
  for (size_t i = 0; i < records.size(); i++) EXPECT_EQ(records[i].payload[0], n - records.size() + i);
  EXPECT_EQ(packets[0].header.count_begin, n - records.size()) << "what was overwritten is an exact number";
}

TEST_F(RingTest, DiscardStopsAndCounts) {
  Open(4096, 4, GKHI_STREAM_COMPACT, GKHI_RING_DISCARD);
  TestEvent event(2);
  const size_t per_packet = (4096 - GKHI_PACKET_HEADER) / 24;
  for (uint64_t i = 0; i < 4 * per_packet; i++) ASSERT_EQ(Write(event, 5, {i, ~i}), 0);
  for (int i = 0; i < 10; i++) EXPECT_EQ(Write(event, 5, {1, 2}), -ENOSPC);
  EXPECT_EQ(view().cpu(stream()).lost_by_reason[GKHI_LOST_FULL], 10u);
  EXPECT_EQ(view().lost(stream(), 5), 10u);
  // A reader takes one packet: there is room for one more, whose header tells of the loss.
  view().mutable_cpu(stream())->tail = 1;
  EXPECT_EQ(Write(event, 5, {7, 8}), 0);
  const std::vector<Packet> packets = view().Packets(stream());
  ASSERT_EQ(packets.size(), 4u);
  EXPECT_EQ(packets[2].header.events_discarded, 10u);
  EXPECT_EQ(packets[3].header.events_discarded, 10u);
  gkhi_channel_stats stats;
  channel_.backend->stats(&channel_, &stats);
  EXPECT_EQ(stats.events, 4 * per_packet + 1);
  EXPECT_EQ(stats.lost[GKHI_LOST_FULL], 10u);
}

TEST_F(RingTest, LargerThanASubBufferIsCounted) {
  Open(4096, 4);
  const uint16_t most = (4096 - GKHI_PACKET_HEADER) / 8 - 1;
  TestEvent fits(most), too_big(most + 1);
  std::vector<uint64_t> frame(most + 1u, 9);
  EXPECT_EQ(Write(fits, 5, frame), 0);
  EXPECT_EQ(Write(fits, 5, frame), 0);
  EXPECT_EQ(Write(too_big, 6, frame), -E2BIG);
  EXPECT_EQ(view().cpu(stream()).lost_by_reason[GKHI_LOST_TOO_BIG], 1u);
  EXPECT_EQ(view().lost(stream(), 6), 1u);
  EXPECT_EQ(SplitFixed(view().Packets(stream()), GKHI_STREAM_COMPACT, most).size(), 2u);
}

TEST_F(RingTest, IdsBeyondTheCountersShareTheLast) {
  Open(4096, 4);
  TestEvent event(1);
  ASSERT_EQ(Write(event, 60000, {1}), 0);
  EXPECT_EQ(view().hits(stream(), GKHI_RING_COUNTERS - 1), 1u);
}

TEST_F(RingTest, TimeNeverGoesBack) {
  Open(4096, 8);
  TestEvent event(1);
  for (uint64_t t : {5000u, 4000u, 6000u, 100u, 6001u}) {
    fake_port.clock = t;
    ASSERT_EQ(Write(event, 5, {t}), 0);
  }
  std::vector<uint64_t> times;
  for (const Record &r : SplitFixed(view().Packets(stream()), GKHI_STREAM_COMPACT, 1))
    times.push_back(r.time);
  EXPECT_EQ(times, (std::vector<uint64_t>{5000, 5000, 6000, 6000, 6001}));
}

TEST_F(RingTest, OldPacketsAreClosedInTime) {
  Open(4096, 8);
  TestEvent event(1);
  fake_port.clock = 2000;
  fake_port.clock_step = 0;
  ASSERT_EQ(Write(event, 5, {1}), 0);
  fake_port.clock = GKHI_PACKET_MAX_TICKS * 3;
  ASSERT_EQ(Write(event, 5, {2}), 0);
  const std::vector<Packet> packets = view().Packets(stream());
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_LT(packets[0].header.timestamp_end - packets[0].header.timestamp_begin, GKHI_PACKET_MAX_TICKS);
  EXPECT_GE(packets[0].header.timestamp_end, 2000u);
  EXPECT_EQ(SplitFixed({packets[1]}, GKHI_STREAM_COMPACT, 1)[0].time, GKHI_PACKET_MAX_TICKS * 3);
}

TEST_F(RingTest, SequenceNumberAndOffsetWrap) {
  // 2^8 packets of the commit word, 2^32 bytes of offset: the largest ring there is would be 4 GiB,
  // so the numbers are put just before they wrap.
  Open(4096, 4);
  TestEvent event(2);
  gkhi_packet *packet = reinterpret_cast<gkhi_packet *>(view().mutable_data(stream()));
  packet->packet_seq_num = (1ull << 32) - 4;
  packet->count_begin = (1ull << 40) - 1;
  view().mutable_cpu(stream())->commit |= (packet->packet_seq_num & 0xff) << 56;
  const size_t per_packet = (4096 - GKHI_PACKET_HEADER) / 24;
  const uint64_t n = per_packet * 600 + 3;
  for (uint64_t i = 0; i < n; i++) ASSERT_EQ(Write(event, 5, {i, ~i}), 0);
  const std::vector<Packet> packets = view().Packets(stream());
  EXPECT_EQ(packets.back().header.packet_seq_num, (1ull << 32) - 4 + 600);
  EXPECT_EQ(packets.back().header.count_begin, (1ull << 40) - 1 + 600 * per_packet);
  const std::vector<Record> records = SplitFixed(packets, GKHI_STREAM_COMPACT, 2);
  EXPECT_EQ(records.back().payload[0], n - 1);
}

TEST_F(RingTest, CountFieldHoldsTheFullestSubBuffer) {
  // Events of one word in the largest sub-buffer: the count must not reach the packet number.
  EXPECT_LT((GKHI_SUBBUF_MAX - GKHI_PACKET_HEADER) / 8, GKHI_COMMIT_COUNT_MASK);
}

TEST_F(RingTest, ResetForgets) {
  Open(4096, 8);
  TestEvent event(1);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 9, &priv);
  for (uint64_t i = 0; i < 5; i++) fake_site_call(&hook, &i, 1);
  channel_.backend->reset(&channel_);
  EXPECT_TRUE(view().Packets(stream()).empty());
  const uint64_t after = 42;
  fake_site_call(&hook, &after, 1);
  const std::vector<Record> records = SplitFixed(view().Packets(stream()), GKHI_STREAM_COMPACT, 1);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].payload[0], 42u);
}

TEST_F(RingTest, ReserveAndCommit) {
  Open(4096, 4);
  std::vector<void *> held;
  for (int i = 0; i < 64; i++) {
    void *p = channel_.backend->reserve(&channel_, 3, 2);
    ASSERT_NE(p, nullptr);
    held.push_back(p);
  }
  EXPECT_EQ(channel_.backend->reserve(&channel_, 3, 2), nullptr);
  EXPECT_EQ(view().cpu(stream()).lost_by_reason[GKHI_LOST_CONTENTION], 1u);
  for (uint64_t i = 0; i < held.size(); i++) {
    static_cast<uint64_t *>(held[i])[0] = i;
    static_cast<uint64_t *>(held[i])[1] = ~i;
    channel_.backend->commit(&channel_, held[i]);
  }
  EXPECT_EQ(channel_.backend->reserve(&channel_, 3, 129), nullptr);
  EXPECT_EQ(view().cpu(stream()).lost_by_reason[GKHI_LOST_TOO_BIG], 1u);
  const std::vector<Record> records = SplitFixed(view().Packets(stream()), GKHI_STREAM_COMPACT, 2);
  ASSERT_EQ(records.size(), 64u);
  for (uint64_t i = 0; i < 64; i++) EXPECT_EQ(records[i].payload, (std::vector<uint64_t>{i, ~i}));
}

TEST_F(RingTest, ConsumersAreToldOfFinishedPackets) {
  Open(4096, 8);
  TestEvent event(2);
  const size_t per_packet = (4096 - GKHI_PACKET_HEADER) / 24;
  const_cast<gkhi_ring_file &>(view().file()).readers = 1;
  for (uint64_t i = 0; i < per_packet * 3 + 1; i++) ASSERT_EQ(Write(event, 5, {i, i}), 0);
  EXPECT_EQ(view().file().ready, 3u);
}

}  // namespace
}  // namespace gkhi_test
