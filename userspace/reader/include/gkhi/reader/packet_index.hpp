// SPDX-License-Identifier: MIT
// The packets of one stream file: found by their headers alone, checked, and what is missing between them
// counted.
#ifndef GKHI_READER_PACKET_INDEX_HPP
#define GKHI_READER_PACKET_INDEX_HPP

#include <gkhi/packet.h>
#include <gkhi/reader/metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gkhi::reader {

using Bytes = std::span<const std::byte>;

// Where one packet lies, and what its header says.
struct PacketInfo {
  uint64_t offset = 0;   // bytes, in the file
  uint64_t content = 0;  // bytes of content that are really there, header included
  uint64_t size = 0;     // bytes of the packet that are really there
  uint64_t begin = 0;    // ticks
  uint64_t end = 0;
  uint64_t sequence = 0;
  uint64_t discarded = 0;
  uint64_t count_begin = 0;
  // Records in it, from the next packet's count_begin; none: there is no next one.
  std::optional<uint64_t> events;
  bool cut = false;  // the file ends inside it
};

// What is not there although it was fired, of one stream or of many. Exact, except where it says "at least".
struct Loss {
  uint64_t discarded = 0;        // events the producer counted as not written
  uint64_t overwritten = 0;      // events written and overwritten before anyone read them
  uint64_t missing_packets = 0;  // gaps in the sequence
  uint64_t missing_events = 0;   // events in those gaps
  uint64_t damaged_bytes = 0;    // bytes that are no packet, or could not be decoded
  uint64_t damaged_packets = 0;  // packets that could not be decoded to their end
  uint64_t damaged_events = 0;   // events in them
  bool at_least = false;         // damaged_events: some could not be counted

  void Add(const Loss &other);
  uint64_t events() const { return discarded + overwritten + missing_events + damaged_events; }
  bool any() const { return events() || missing_packets || damaged_bytes || damaged_packets; }
};

// "no event lost", or every kind of loss that is not zero, with what it means.
std::string LossText(const Loss &loss);

struct StreamIndex {
  uint32_t stream_class = GKHI_STREAM_COMPACT;
  uint32_t cpu = 0;
  uint32_t pid = 0;
  std::vector<PacketInfo> packets;
  Loss loss;
};

// Why a header is not one of a packet of ours; nullptr: it is. @rest starts at the header and goes on to the
// end of the file; it may end inside the packet.
const char *CheckHeader(Bytes rest, const Uuid &uuid);

// Finds all packets. Where there is none it looks for the next magic and uuid and counts the bytes between.
StreamIndex IndexStream(Bytes file, const Uuid &uuid);

}  // namespace gkhi::reader

#endif
