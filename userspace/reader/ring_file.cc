// SPDX-License-Identifier: MIT
// Copies packets out of a ring that is being written. A copy counts only if the writer was still far enough
// away afterwards; everything read from the file is checked before it is used as an index.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <gkhi/reader/ring_file.hpp>

namespace gkhi::reader {
namespace {

template <typename T>
T LoadAcquire(const T *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

template <typename T>
T LoadRelaxed(const T *at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

const char *WrongHead(const gkhi_ring_file &h, size_t size) {
  if (h.magic != GKHI_RING_MAGIC) return "no ring magic";
  if (h.version != GKHI_RING_VERSION) return "another version of the ring";
  if (!std::has_single_bit(h.subbuf_size) || h.subbuf_size < GKHI_SUBBUF_MIN ||
      h.subbuf_size > GKHI_SUBBUF_MAX)
    return "sub-buffer size out of range";
  if (!std::has_single_bit(h.n_subbufs) || h.n_subbufs < GKHI_N_SUBBUFS_MIN ||
      uint64_t{h.subbuf_size} * h.n_subbufs > GKHI_RING_DATA_MAX)
    return "number of sub-buffers out of range";
  if (h.stream_class >= GKHI_N_STREAM_CLASSES || h.mode > GKHI_RING_DISCARD)
    return "unknown stream class or mode";
  if (h.n_cpus > 65536 || h.n_streams != h.n_cpus + 1 || h.n_counters == 0)
    return "number of streams out of range";
  const uint64_t data = uint64_t{h.subbuf_size} * h.n_subbufs;
  const uint64_t counters = uint64_t{8} * h.n_counters;
  if (h.stride > size || h.data_offset > h.stride || data > h.stride - h.data_offset)
    return "stream larger than its stride";
  if (h.cpu_offset > h.stride || h.stride - h.cpu_offset < sizeof(gkhi_ring_cpu) ||
      h.hits_offset > h.stride || h.stride - h.hits_offset < counters || h.lost_offset > h.stride ||
      h.stride - h.lost_offset < counters)
    return "counters outside the stream";
  if ((h.stride | h.cpu_offset | h.data_offset | h.hits_offset | h.lost_offset) % 8 != 0)
    return "offsets are not aligned";
  if (size < GKHI_RING_PAGE || (size - GKHI_RING_PAGE) / h.n_streams < h.stride) return "file is too short";
  return nullptr;
}

}  // namespace

Result<RingFile> RingFile::Check(MappedFile file, const std::string &path) {
  RingFile ring;
  if (file.size() < sizeof(gkhi_ring_file))
    return Error{fmt::format("{}: too short for a ring: {} bytes", path, file.size())};
  // The writer stores the magic last: with it, the rest is there.
  const auto *in_file = reinterpret_cast<const gkhi_ring_file *>(file.data());
  const uint64_t magic = LoadAcquire(&in_file->magic);
  std::memcpy(&ring.head_, in_file, sizeof(ring.head_));
  ring.head_.magic = magic;
  if (const char *wrong = WrongHead(ring.head_, file.size()))
    return Error{fmt::format("{}: {}", path, wrong)};
  ring.file_ = std::move(file);
  return ring;
}

Result<RingFile> RingFile::Open(const std::string &path) {
  Result<MappedFile> file = MappedFile::Open(path);
  if (!file) return Error{file.error()};
  return Check(std::move(*file), path);
}

Result<RingFile> RingFile::OpenForConsumer(const std::string &path) {
  Result<MappedFile> file = MappedFile::OpenWritable(path);
  if (!file) return Error{file.error()};
  return Check(std::move(*file), path);
}

std::string RingFile::channel() const {
  return std::string(head_.channel, strnlen(head_.channel, sizeof(head_.channel)));
}

const gkhi_ring_cpu *RingFile::Stream(uint32_t i) const {
  return reinterpret_cast<const gkhi_ring_cpu *>(file_.data() + GKHI_RING_PAGE + i * head_.stride +
                                                 head_.cpu_offset);
}

const std::byte *RingFile::SubBuffer(uint32_t stream, uint32_t index) const {
  return file_.data() + GKHI_RING_PAGE + stream * head_.stride + head_.data_offset +
         uint64_t{index} * head_.subbuf_size;
}

OpenPacket RingFile::Last(uint32_t stream) const {
  const gkhi_ring_cpu *rc = Stream(stream);
  OpenPacket open;
  uint64_t commit = LoadAcquire(&rc->commit);
  // The header belongs to the commit word when its number does; a writer that opens a packet in between is
  // rare.
  for (int i = 0; i < 1000; i++) {
    const uint32_t shift = std::countr_zero(head_.subbuf_size);
    open.sub_buffer = (gkhi_commit_offset(commit) >> shift) & (head_.n_subbufs - 1);
    const auto *header = reinterpret_cast<const gkhi_packet *>(SubBuffer(stream, open.sub_buffer));
    open.sequence = LoadRelaxed(&header->packet_seq_num);
    open.content = (gkhi_commit_offset(commit) & (head_.subbuf_size - 1)) + 8;
    open.events = gkhi_commit_count(commit);
    const uint64_t again = LoadAcquire(&rc->commit);
    if (again >> 56 == commit >> 56 && (open.sequence & 0xff) == gkhi_commit_packet(commit)) break;
    commit = again;
  }
  return open;
}

uint64_t RingFile::Oldest(uint32_t stream, uint64_t last) const {
  const gkhi_ring_cpu *rc = Stream(stream);
  // The sub-buffer behind the open one is where the writer is about to put a header.
  const uint64_t trusted = head_.n_subbufs - 2;
  uint64_t oldest = last > trusted ? last - trusted : 0;
  if (head_.mode == GKHI_RING_DISCARD) {
    // Nothing unread is written over; nothing read need be there.
    const uint64_t tail = LoadAcquire(&rc->tail);
    oldest = tail <= last && last - tail < head_.n_subbufs ? tail : oldest;
  }
  return std::min(std::max(oldest, LoadRelaxed(&rc->first)), last);
}

RingFile::Copied RingFile::CopyPacket(uint32_t stream, uint64_t sequence, std::string *out,
                                      uint32_t *events) const {
  const OpenPacket before = Last(stream);
  if (sequence > before.sequence || sequence < Oldest(stream, before.sequence)) return Copied::kGone;
  const auto distance = static_cast<uint32_t>(before.sequence - sequence);
  const std::byte *from = SubBuffer(stream, (before.sub_buffer - distance) & (head_.n_subbufs - 1));
  gkhi_packet header;
  std::memcpy(&header, from, sizeof(header));
  uint64_t content = header.content_size / 8;
  const bool open = sequence == before.sequence;
  uint64_t next_count = header.count_begin + before.events;
  if (open) {
    content = before.content;
    header.timestamp_end = header.timestamp_begin + GKHI_PACKET_MAX_TICKS - 1;
    header.events_discarded = LoadRelaxed(&Stream(stream)->discarded);
  }
  if (!open) {
    gkhi_packet next;
    std::memcpy(&next, SubBuffer(stream, (before.sub_buffer - distance + 1) & (head_.n_subbufs - 1)),
                sizeof(next));
    if (next.packet_seq_num != sequence + 1) return Copied::kGone;
    next_count = next.count_begin;
  }
  *events = static_cast<uint32_t>(next_count - header.count_begin);
  if (content < GKHI_PACKET_HEADER || content > head_.subbuf_size || content % 8 != 0) return Copied::kGone;
  header.content_size = content * 8;
  header.packet_size = content * 8;
  const size_t start = out->size();
  out->append(reinterpret_cast<const char *>(&header), sizeof(header));
  out->append(reinterpret_cast<const char *>(from) + sizeof(header), content - sizeof(header));
  // What was copied is good if it is still no older than a reader may trust.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  const OpenPacket after = Last(stream);
  if (sequence >= Oldest(stream, after.sequence) && header.packet_seq_num == sequence) {
    return open ? Copied::kOpen : Copied::kClosed;
  }
  out->resize(start);
  return Copied::kGone;
}

void RingFile::Acknowledge(uint32_t stream, uint64_t sequence) {
  auto *rc = const_cast<gkhi_ring_cpu *>(Stream(stream));
  __atomic_store_n(&rc->tail, sequence, __ATOMIC_RELEASE);
}

uint32_t *RingFile::ready_word() {
  return reinterpret_cast<uint32_t *>(file_.data() + offsetof(gkhi_ring_file, ready));
}

void RingFile::Attach(bool attached) {
  auto *readers = reinterpret_cast<uint32_t *>(file_.data() + offsetof(gkhi_ring_file, readers));
  __atomic_fetch_add(readers, attached ? 1 : -1, __ATOMIC_RELAXED);
}

uint64_t RingFile::Counter(uint32_t id, uint64_t offset) const {
  uint64_t sum = 0;
  const uint32_t slot = std::min(id, head_.n_counters - 1);
  for (uint32_t i = 0; i < n_streams(); i++) {
    sum += LoadRelaxed(reinterpret_cast<const uint64_t *>(file_.data() + GKHI_RING_PAGE + i * head_.stride +
                                                          offset + uint64_t{8} * slot));
  }
  return sum;
}

uint64_t RingFile::Events() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < n_streams(); i++) {
    const OpenPacket open = Last(i);
    const auto *header = reinterpret_cast<const gkhi_packet *>(SubBuffer(i, open.sub_buffer));
    sum += LoadRelaxed(&header->count_begin) + open.events;
  }
  return sum;
}

std::vector<uint64_t> RingFile::LostByReason() const {
  std::vector<uint64_t> lost(GKHI_N_LOST_REASONS);
  for (uint32_t i = 0; i < n_streams(); i++) {
    for (size_t reason = 0; reason < lost.size(); reason++)
      lost[reason] += LoadRelaxed(&Stream(i)->lost_by_reason[reason]);
  }
  return lost;
}

}  // namespace gkhi::reader
