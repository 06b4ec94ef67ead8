// SPDX-License-Identifier: MIT
// Finds the packets of a stream file, resynchronises on damage, and counts what is missing.
#include <gkhi/reader/packet_index.hpp>

#include <fmt/format.h>
#include <gkhi/ring.h>

#include <cstring>

namespace gkhi::reader {
namespace {

constexpr size_t kHeader = GKHI_PACKET_HEADER;
constexpr size_t kKey = 20;  // magic and uuid

gkhi_packet ReadHeader(Bytes rest) {
  gkhi_packet header;
  std::memcpy(&header, rest.data(), sizeof(header));
  return header;
}

// The next place at or behind @from where magic and uuid stand; the size of the file when there is none.
uint64_t FindKey(Bytes file, uint64_t from, const Uuid &uuid) {
  std::byte key[kKey];
  const uint32_t magic = GKHI_CTF_MAGIC;
  std::memcpy(key, &magic, sizeof(magic));
  std::memcpy(key + sizeof(magic), uuid.data(), uuid.size());
  if (from >= file.size()) return file.size();
  const void *hit = memmem(file.data() + from, file.size() - from, key, kKey);
  return hit ? static_cast<const std::byte *>(hit) - file.data() : file.size();
}

// A packet as its header tells it, before its neighbours had their say.
struct Candidate {
  PacketInfo info;
  uint32_t stream_class;
  uint32_t cpu;
  uint32_t pid;
};

// All packets of a stream are of one class and cpu, and time and counts only grow.
bool Follows(const Candidate &before, const Candidate &next) {
  const PacketInfo &a = before.info;
  const PacketInfo &b = next.info;
  return next.stream_class == before.stream_class && next.cpu == before.cpu && next.pid == before.pid &&
         b.sequence > a.sequence && b.count_begin >= a.count_begin && b.discarded >= a.discarded &&
         b.begin >= a.end;
}

class Indexer {
 public:
  Indexer(Bytes file, const Uuid &uuid) : file_(file), uuid_(uuid) {}

  StreamIndex Run() {
    for (uint64_t at = 0; at < file_.size();) at = Step(at);
    Chain();
    Account();
    return std::move(index_);
  }

 private:
  bool HeaderAt(uint64_t at) const {
    return at < file_.size() && CheckHeader(file_.subspan(at), uuid_) == nullptr;
  }

  // Takes the packet at @at, or skips to the next one. Returns where to go on.
  uint64_t Step(uint64_t at) {
    if (HeaderAt(at)) return Take(at, ReadHeader(file_.subspan(at)));
    const uint64_t next = FindKey(file_, at + 1, uuid_);
    if (found_.empty()) damaged_before_first_ = true;
    index_.loss.damaged_bytes += next - at;
    return next;
  }

  uint64_t Take(uint64_t at, const gkhi_packet &header) {
    PacketInfo packet;
    packet.offset = at;
    packet.content = header.content_size / 8;
    packet.size = header.packet_size / 8;
    packet.begin = header.timestamp_begin;
    packet.end = header.timestamp_end;
    packet.sequence = header.packet_seq_num;
    packet.discarded = header.events_discarded;
    packet.count_begin = header.count_begin;
    // What follows must be a packet or the end. If not, the next packet may have come too early: the size is
    // wrong, or bytes are gone.
    if (packet.size > file_.size() - at || (at + packet.size < file_.size() && !HeaderAt(at + packet.size))) {
      const uint64_t size = FindKey(file_, at + kHeader, uuid_) - at;
      packet.cut = size < packet.size;
      packet.size = std::min(size, packet.size);
      packet.content = std::min(packet.content, packet.size);
    }
    found_.push_back({packet, header.stream_id, header.cpu_id, header.pid});
    return at + packet.size;
  }

  // Drops packets whose header contradicts its neighbours: of two that do not fit, the one that a third does
  // not fit.
  void Chain() {
    std::vector<Candidate> kept;
    for (size_t i = 0; i < found_.size(); i++) {
      bool good = true;
      while (good && !kept.empty() && !Follows(kept.back(), found_[i])) {
        const bool last = i + 1 == found_.size();
        // Of two packets with nobody to ask the first is believed.
        if (last ? kept.size() == 1 : Follows(kept.back(), found_[i + 1])) {
          good = false;
        } else {
          if (kept.size() == 1) damaged_before_first_ = true;
          index_.loss.damaged_bytes += kept.back().info.size;
          kept.pop_back();
        }
      }
      if (good) {
        kept.push_back(found_[i]);
      } else {
        index_.loss.damaged_bytes += found_[i].info.size;
      }
    }
    found_ = std::move(kept);
  }

  void Account() {
    if (found_.empty()) return;
    index_.stream_class = found_[0].stream_class;
    index_.cpu = found_[0].cpu;
    index_.pid = found_[0].pid;
    index_.packets.reserve(found_.size());
    for (const Candidate &c : found_) index_.packets.push_back(c.info);
    const PacketInfo &first = index_.packets.front();
    if (damaged_before_first_) {
      index_.loss.missing_packets = first.sequence;
      index_.loss.missing_events = first.count_begin;
    } else {
      index_.loss.overwritten = first.count_begin;  // a flight recorder wrote over them
    }
    index_.loss.discarded = index_.packets.back().discarded;
    for (size_t i = 0; i + 1 < index_.packets.size(); i++) {
      PacketInfo &packet = index_.packets[i];
      const PacketInfo &next = index_.packets[i + 1];
      if (next.sequence == packet.sequence + 1) packet.events = next.count_begin - packet.count_begin;
      index_.loss.missing_packets += next.sequence - packet.sequence - 1;
    }
  }

  Bytes file_;
  const Uuid &uuid_;
  StreamIndex index_;
  std::vector<Candidate> found_;
  bool damaged_before_first_ = false;
};

void AddPart(std::string *out, uint64_t n, const char *one, const char *many) {
  if (n == 0) return;
  if (!out->empty()) *out += ", ";
  *out += fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace

void Loss::Add(const Loss &other) {
  discarded += other.discarded;
  overwritten += other.overwritten;
  missing_packets += other.missing_packets;
  missing_events += other.missing_events;
  damaged_bytes += other.damaged_bytes;
  damaged_packets += other.damaged_packets;
  damaged_events += other.damaged_events;
  at_least |= other.at_least;
}

std::string LossText(const Loss &loss) {
  if (!loss.any()) return "no event lost";
  std::string parts;
  AddPart(&parts, loss.discarded, "discarded by the producer", "discarded by the producer");
  AddPart(&parts, loss.overwritten, "overwritten before the snapshot", "overwritten before the snapshot");
  AddPart(&parts, loss.missing_events, "in missing packets", "in missing packets");
  AddPart(&parts, loss.damaged_events, "in damaged packets", "in damaged packets");
  std::string damage;
  AddPart(&damage, loss.missing_packets, "packet missing", "packets missing");
  AddPart(&damage, loss.damaged_packets, "packet damaged", "packets damaged");
  AddPart(&damage, loss.damaged_bytes, "byte unreadable", "bytes unreadable");
  std::string out = fmt::format("LOST {}{} event{}", loss.at_least ? "at least " : "", loss.events(),
                                loss.events() == 1 ? "" : "s");
  if (!parts.empty()) out += ": " + parts;
  if (!damage.empty()) out += " (" + damage + ")";
  return out;
}

const char *CheckHeader(Bytes rest, const Uuid &uuid) {
  if (rest.size() < kHeader) return "shorter than a packet header";
  const gkhi_packet h = ReadHeader(rest);
  if (h.magic != GKHI_CTF_MAGIC) return "no packet magic";
  if (std::memcmp(h.uuid, uuid.data(), uuid.size()) != 0) return "uuid of another producer";
  if (h.stream_id >= GKHI_N_STREAM_CLASSES) return "unknown stream class";
  if (h.packet_size % 64 != 0 || h.content_size % 8 != 0) return "sizes are not whole words";
  if (h.content_size < kHeader * 8) return "content smaller than the header";
  if (h.content_size > h.packet_size) return "content larger than the packet";
  if (h.packet_size / 8 > uint64_t{GKHI_SUBBUF_MAX}) return "larger than any packet";
  if (h.timestamp_end < h.timestamp_begin) return "ends before it begins";
  if (h.timestamp_end - h.timestamp_begin >= GKHI_PACKET_MAX_TICKS) return "spans 2^47 ticks";
  return nullptr;
}

StreamIndex IndexStream(Bytes file, const Uuid &uuid) {
  return Indexer(file, uuid).Run();
}

}  // namespace gkhi::reader
