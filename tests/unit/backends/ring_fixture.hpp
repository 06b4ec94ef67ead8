// SPDX-License-Identifier: MIT
// ring_fixture.hpp - a ring on a fake port, events to put into it, and a reader
// that follows the format page and nothing else.
#pragma once

#include <gkhi/ring.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fake_port.h"

extern "C" const char gkhi_stub_generic[];
extern "C" const void *port_stub(const gkhi_event *event, const gkhi_route *route);
extern "C" uint32_t port_sequence_cpu(void);

namespace gkhi_test {

// One record as the format page describes it; `payload` is all that follows the header words.
struct Record {
  uint64_t time = 0;
  uint32_t id = 0;
  uint32_t tid = 0;
  std::vector<uint64_t> payload;
};

struct Packet {
  gkhi_packet header;
  bool open = false;
  uint32_t stream = 0;
  std::vector<uint64_t> words;  // of the content, header excluded
  uint32_t count = 0;           // events in it, as the headers and the commit word tell
};

// A ring's file in memory.
class RingView {
 public:
  explicit RingView(const void *file) : base_(static_cast<const char *>(file)) {}

  const gkhi_ring_file &file() const { return *reinterpret_cast<const gkhi_ring_file *>(base_); }
  const gkhi_ring_cpu &cpu(uint32_t stream) const {
    return *reinterpret_cast<const gkhi_ring_cpu *>(StreamBase(stream) + file().cpu_offset);
  }
  gkhi_ring_cpu *mutable_cpu(uint32_t stream) const { return const_cast<gkhi_ring_cpu *>(&cpu(stream)); }
  const char *data(uint32_t stream) const { return StreamBase(stream) + file().data_offset; }
  char *mutable_data(uint32_t stream) const { return const_cast<char *>(data(stream)); }
  uint64_t hits(uint32_t stream, uint32_t id) const { return Counters(stream, file().hits_offset)[id]; }
  uint64_t lost(uint32_t stream, uint32_t id) const { return Counters(stream, file().lost_offset)[id]; }

  // Packets that a reader may trust, oldest first; nobody may be writing.
  std::vector<Packet> Packets(uint32_t stream) const;

 private:
  const char *StreamBase(uint32_t stream) const { return base_ + GKHI_RING_PAGE + stream * file().stride; }
  const uint64_t *Counters(uint32_t stream, uint64_t offset) const {
    return reinterpret_cast<const uint64_t *>(StreamBase(stream) + offset);
  }
  const char *base_;
};

// An event whose payload is `words` words, with `n_strings` strings behind them.
class TestEvent {
 public:
  explicit TestEvent(uint16_t words, uint16_t n_strings = 0, uint32_t string_max = 64);
  const gkhi_event *get() const { return &event_; }
  gkhi_event *get() { return &event_; }
  std::vector<gkhi_field> &fields() { return fields_; }
  void Refresh();  // after fields() were changed

 private:
  gkhi_event event_{};
  std::vector<gkhi_field> fields_;
};

class RingTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Opens a ring as configured; CPU of this thread is `cpu_` (pinned), or the fallback stream.
  void Open(uint32_t subbuf_size, uint32_t n_subbufs, uint32_t stream_class = GKHI_STREAM_COMPACT,
            uint32_t mode = GKHI_RING_OVERWRITE);
  void Close();
  int Write(const TestEvent &event, uint32_t id, const std::vector<uint64_t> &frame);
  // A hook of `event` that goes to the ring by the stub that the port chooses.
  gkhi_hook MakeHook(const TestEvent &event, uint16_t id, fake_hook *priv);
  RingView view() const { return RingView(fake_port.shm); }
  uint32_t stream() const { return stream_; }  // the one that this thread writes to
  uint32_t fallback() const { return fake_port.n_cpus; }

  gkhi_channel channel_{};
  uint32_t stream_ = 0;
};

// Splits packets of one-size events (payload of `words`).
std::vector<Record> SplitFixed(const std::vector<Packet> &packets, uint32_t stream_class, size_t words);

}  // namespace gkhi_test
