// SPDX-License-Identifier: MIT
// Decodes the packets of one stream. What cannot be decoded is skipped to the next packet, counted and told.
#include <gkhi/reader/stream.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gkhi::reader {
namespace {

constexpr size_t kMaxProblems = 8;  // the counts say the rest
constexpr uint64_t kTimeMask = (uint64_t{1} << GKHI_TIME_BITS) - 1;

template <typename T>
T Load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

}  // namespace

StreamCursor::StreamCursor(const Metadata &metadata, const StreamIndex &index, Bytes file)
    : metadata_(metadata), index_(index), file_(file), loss_(index.loss) {
  size_t tails = 0;
  for (const auto &event : metadata.events()) {
    if (event != nullptr) tails = std::max<size_t>(tails, event->n_tails);
  }
  tails_.resize(tails);
  record_.cpu = index.cpu;
  record_.pid = index.pid;
  record_.tails = tails_.data();
}

const Record *StreamCursor::Next() {
  for (;;) {
    if (!open_ && !OpenPacket()) return nullptr;
    if (position_ < content_end_ && Decode()) return &record_;
    ClosePacket();
  }
}

bool StreamCursor::OpenPacket() {
  if (packet_ >= index_.packets.size()) return false;
  const PacketInfo &packet = index_.packets[packet_];
  open_ = true;
  position_ = packet.offset + GKHI_PACKET_HEADER;
  content_end_ = packet.offset + packet.content;
  last_ticks_ = packet.begin;
  in_packet_ = 0;
  if (packet.cut) Damaged("the packet is cut short");
  return true;
}

void StreamCursor::ClosePacket() {
  const PacketInfo &packet = index_.packets[packet_];
  const bool damaged = position_ < content_end_ || packet.cut;
  if (position_ < content_end_) loss_.damaged_bytes += content_end_ - position_;
  if (packet.events) {
    if (*packet.events > in_packet_) {
      if (!damaged) Damaged(fmt::format("found {} records, wanted {}", in_packet_, *packet.events));
      loss_.damaged_events += *packet.events - in_packet_;
    } else if (*packet.events < in_packet_) {
      Damaged(fmt::format("found {} records, wanted {}", in_packet_, *packet.events));
    }
  } else if (packet_ + 1 < index_.packets.size()) {
    // Packets are missing behind it: what was written in between and is not here.
    const uint64_t written = index_.packets[packet_ + 1].count_begin - packet.count_begin;
    loss_.missing_events += written > in_packet_ ? written - in_packet_ : 0;
  } else if (damaged) {
    loss_.at_least = true;
    loss_.damaged_events += 1;
  }
  open_ = false;
  packet_++;
}

bool StreamCursor::Damaged(const std::string &what) {
  const PacketInfo &packet = index_.packets[packet_];
  if (damaged_packet_ != packet_ + 1) {
    damaged_packet_ = packet_ + 1;
    loss_.damaged_packets++;
  }
  if (problems_.size() < kMaxProblems) {
    problems_.push_back(fmt::format("packet {} at byte {}, byte {}: {}", packet.sequence, packet.offset,
                                    position_ - packet.offset, what));
  }
  return false;
}

bool StreamCursor::DecodeHeader(Bytes rest, uint32_t *id, size_t *header) {
  *header = index_.stream_class == GKHI_STREAM_WIDE ? 16 : 8;
  if (rest.size() < *header) return Damaged("the content ends inside a record's header");
  const auto word = Load<uint64_t>(rest.data());
  switch (index_.stream_class) {
    case GKHI_STREAM_COMPACT:
      *id = word & ((1u << GKHI_ID_BITS) - 1);
      // 48 bits of time: the nearest moment that is not before the last one.
      record_.ticks = last_ticks_ + (((word >> GKHI_ID_BITS) - last_ticks_) & kTimeMask);
      return true;
    case GKHI_STREAM_WIDE:
      *id = Load<uint32_t>(rest.data() + 8);
      record_.tid = Load<uint32_t>(rest.data() + 12);
      record_.ticks = word;
      return true;
    default:
      if (word > GKHI_ID_MAX)
        return Damaged(fmt::format("found the header word {:#x}, wanted an id alone", word));
      *id = static_cast<uint32_t>(word);
      record_.ticks = last_ticks_;
      return true;
  }
}

bool StreamCursor::Decode() {
  const PacketInfo &packet = index_.packets[packet_];
  const Bytes rest = file_.subspan(position_, content_end_ - position_);
  uint32_t id;
  size_t header;
  if (!DecodeHeader(rest, &id, &header)) return false;
  const Event *event = metadata_.Find(id);
  if (event == nullptr)
    return Damaged(fmt::format("event id {} is not in the metadata: its size is unknown", id));
  if (record_.ticks < last_ticks_ || record_.ticks > packet.end) {
    return Damaged(fmt::format("{} at tick {} is outside {} to {}", event->full_name, record_.ticks,
                               last_ticks_, packet.end));
  }
  const std::optional<size_t> size = MeasurePayload(*event, rest.subspan(header), tails_.data());
  if (!size) return Damaged(fmt::format("{} does not fit its schema, or the content", event->full_name));
  record_.event = event;
  record_.payload = rest.data() + header;
  last_ticks_ = record_.ticks;
  position_ += header + *size;
  in_packet_++;
  events_++;
  return true;
}

}  // namespace gkhi::reader
