// SPDX-License-Identifier: MIT
#include "ring_fixture.hpp"

#include <sched.h>

namespace gkhi_test {

std::vector<Packet> RingView::Packets(uint32_t stream) const {
  const gkhi_ring_file &f = file();
  const uint64_t commit = __atomic_load_n(&cpu(stream).commit, __ATOMIC_ACQUIRE);
  const uint32_t open_index = gkhi_commit_offset(commit) / f.subbuf_size;
  const auto header_at = [&](uint32_t index) {
    gkhi_packet p;
    std::memcpy(&p, data(stream) + uint64_t{index} * f.subbuf_size, sizeof(p));
    return p;
  };
  const uint64_t open_seq = header_at(open_index).packet_seq_num;
  const uint64_t most = f.mode == GKHI_RING_OVERWRITE ? f.n_subbufs - 1 : f.n_subbufs;
  uint64_t seq = open_seq + 1 < most ? 0 : open_seq + 1 - most;
  seq = std::max({seq, cpu(stream).first, f.mode == GKHI_RING_DISCARD ? cpu(stream).tail : 0});
  std::vector<Packet> packets;
  for (; seq <= open_seq; seq++) {
    Packet p;
    const uint32_t index = static_cast<uint32_t>(seq % f.n_subbufs);
    p.header = header_at(index);
    p.stream = stream;
    p.open = seq == open_seq;
    EXPECT_EQ(p.header.packet_seq_num, seq);
    uint64_t bytes = p.header.content_size / 8;
    if (p.open) {
      bytes = gkhi_commit_offset(commit) % f.subbuf_size + 8;
      p.count = gkhi_commit_count(commit);
    } else {
      p.count =
          static_cast<uint32_t>(header_at((index + 1) % f.n_subbufs).count_begin - p.header.count_begin);
    }
    EXPECT_GE(bytes, sizeof(gkhi_packet));
    EXPECT_LE(bytes, f.subbuf_size);
    p.words.resize((bytes - sizeof(gkhi_packet)) / 8);
    if (!p.words.empty())
      std::memcpy(p.words.data(), data(stream) + uint64_t{index} * f.subbuf_size + sizeof(gkhi_packet),
                  p.words.size() * 8);
    packets.push_back(std::move(p));
  }
  return packets;
}

TestEvent::TestEvent(uint16_t words, uint16_t n_strings, uint32_t string_max) {
  for (uint16_t i = 0; i < words; i++) {
    gkhi_field f{};
    f.name = "word";
    f.type = GKHI_T_UINT;
    f.size = 8;
    f.offset = static_cast<uint16_t>(8 * i);
    f.len_offset = GKHI_NO_OFFSET;
    f.max = 1;
    fields_.push_back(f);
  }
  for (uint16_t i = 0; i < n_strings; i++) {
    gkhi_field f{};
    f.name = "string";
    f.type = GKHI_T_STRING;
    f.size = 1;
    f.offset = GKHI_NO_OFFSET;
    f.len_offset = GKHI_NO_OFFSET;
    f.max = string_max;
    fields_.push_back(f);
  }
  event_.abi = GKHI_ABI_VERSION;
  event_.provider = "test";
  event_.name = "event";
  event_.fixed_words = words;
  Refresh();
}

void TestEvent::Refresh() {
  event_.fields = fields_.data();
  event_.n_fields = static_cast<uint16_t>(fields_.size());
  event_.n_tails = 0;
  for (const gkhi_field &f : fields_) event_.n_tails += f.offset == GKHI_NO_OFFSET;
}

void RingTest::SetUp() {
  fake_port = {};
  cpu_set_t allowed, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  uint32_t cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  fake_port.n_cpus = cpu + 1;
  stream_ = port_sequence_cpu() == cpu ? cpu : fallback();
  fake_port.clock_kind = 2;
  fake_port.clock = 1000;
  fake_port.clock_step = 1;
  fake_port.pid = 4711;
  for (int i = 0; i < 16; i++) fake_port.uuid[i] = static_cast<uint8_t>(i);
}

void RingTest::TearDown() {
  if (channel_.backend != nullptr) Close();
  EXPECT_EQ(fake_port.n_alloc, 0u);
  EXPECT_EQ(fake_port.n_shm, 0u);
}

void RingTest::Open(uint32_t subbuf_size, uint32_t n_subbufs, uint32_t stream_class, uint32_t mode) {
  channel_ = {};
  std::strcpy(channel_.config.name, "main");
  channel_.config.subbuf_size = subbuf_size;
  channel_.config.n_subbufs = n_subbufs;
  channel_.config.stream_class = stream_class;
  channel_.config.mode = mode;
  const gkhi_backend *ring = gkhi_backend_find("ring");
  ASSERT_NE(ring, nullptr);
  ASSERT_EQ(ring->open(&channel_), 0);
  channel_.backend = ring;
}

void RingTest::Close() {
  channel_.backend->close(&channel_);
  channel_.backend = nullptr;
}

int RingTest::Write(const TestEvent &event, uint32_t id, const std::vector<uint64_t> &frame) {
  const gkhi_payload payload{event.get(), id, frame.data()};
  return channel_.backend->write(&channel_, &payload);
}

gkhi_hook RingTest::MakeHook(const TestEvent &event, uint16_t id, fake_hook *priv) {
  *priv = {event.get(), &channel_};
  gkhi_hook hook{};
  hook.stub = const_cast<void *>(port_stub(event.get(), channel_.route));
  hook.route = channel_.route;
  hook.step = gkhi_commit_step(1u + event.get()->fixed_words);
  hook.id = id;
  hook.counter = id;
  hook.header = id;
  hook.mode = GKHI_MODE_CALL;
  hook.fixed_words = event.get()->fixed_words;
  hook.string_words = gkhi_event_string_words(event.get());
  hook.priv = priv;
  return hook;
}

std::vector<Record> SplitFixed(const std::vector<Packet> &packets, uint32_t stream_class, size_t words) {
  const size_t header = stream_class == GKHI_STREAM_WIDE ? 2 : 1;
  std::vector<Record> records;
  for (const Packet &p : packets) {
    EXPECT_EQ(p.words.size(), p.count * (header + words));
    uint64_t time = p.header.timestamp_begin;
    for (size_t at = 0; at + header + words <= p.words.size(); at += header + words) {
      const uint64_t *w = &p.words[at];
      Record r;
      if (stream_class == GKHI_STREAM_COMPACT) {
        r.id = w[0] & 0xffff;
        time += ((w[0] >> 16) - time) & ((1ull << GKHI_TIME_BITS) - 1);
        r.time = time;
      } else if (stream_class == GKHI_STREAM_WIDE) {
        r.time = w[0];
        r.id = static_cast<uint32_t>(w[1]);
        r.tid = static_cast<uint32_t>(w[1] >> 32);
      } else {
        r.id = static_cast<uint32_t>(w[0]);
      }
      r.payload.assign(w + header, w + header + words);
      records.push_back(std::move(r));
    }
  }
  return records;
}

}  // namespace gkhi_test
