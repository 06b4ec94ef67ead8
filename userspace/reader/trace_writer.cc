// SPDX-License-Identifier: MIT
// Turns the rings of a process into a CTF trace directory. The kernel page cache is the only buffer: what was
// written survives this program.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <gkhi/reader/stream.hpp>
#include <gkhi/reader/trace_writer.hpp>

#include "output_file.hpp"

namespace gkhi::reader {
namespace {

constexpr int kRounds = 8;

Error Cannot(const char *what, const std::string &path) {
  return Error{fmt::format("cannot {} {}: {}", what, path, strerror(errno))};
}

std::string StreamName(const RingFile &ring, uint32_t stream) {
  const uint32_t cpu = ring.Cpu(stream);
  return cpu == GKHI_CPU_NONE ? ring.channel() + "_none" : fmt::format("{}_{}", ring.channel(), cpu);
}

gkhi_packet *Header(std::string *packet) {
  return reinterpret_cast<gkhi_packet *>(packet->data());
}

}  // namespace

void WriterTotals::Add(const WriterTotals &other) {
  events += other.events;
  discarded += other.discarded;
  overwritten += other.overwritten;
  packets += other.packets;
  bytes += other.bytes;
}

Status EndOpenPacket(const Metadata &metadata, uint32_t events, char *packet, size_t size) {
  gkhi_packet header;
  std::memcpy(&header, packet, sizeof(header));
  if (header.stream_id == GKHI_STREAM_NOCLOCK) {
    header.timestamp_end = header.timestamp_begin;
    std::memcpy(packet, &header, sizeof(header));
    return Done{};
  }
  StreamIndex index;
  index.stream_class = header.stream_id;
  PacketInfo info;
  info.content = info.size = size;
  info.begin = header.timestamp_begin;
  info.end = header.timestamp_end;
  info.sequence = header.packet_seq_num;
  info.events = events;
  index.packets.push_back(info);
  const Bytes bytes(reinterpret_cast<const std::byte *>(packet), size);
  StreamCursor cursor(metadata, index, bytes);
  uint64_t last = header.timestamp_begin;
  while (const Record *record = cursor.Next()) last = record->ticks;
  if (!cursor.problems().empty()) return Error{cursor.problems()[0]};
  header.timestamp_end = last;
  std::memcpy(packet, &header, sizeof(header));
  return Done{};
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::Create(Producer producer, const ClockRecord &clock,
                                                         const std::string &dir) {
  std::error_code ec;
  const bool made = std::filesystem::create_directories(dir, ec);
  if (ec) return Error{fmt::format("cannot make {}: {}", dir, ec.message())};
  std::unique_ptr<TraceWriter> writer(new TraceWriter(std::move(producer), dir));
  writer->head_ = writer->producer_.Head(clock);
  Status status = writer->WriteMetadata();
  if (status) return writer;
  if (made) rmdir(dir.c_str());  // no trace was begun
  return Error{status.error()};
}

TraceWriter::~TraceWriter() {
  for (auto &[path, ring] : rings_) {
    if (ring.consume) ring.file.Attach(false);
    for (const StreamState &stream : ring.streams) {
      if (stream.fd >= 0) close(stream.fd);
    }
  }
}

Status TraceWriter::WriteMetadata() {
  const uint64_t size = __atomic_load_n(&producer_.control().metadata_size, __ATOMIC_ACQUIRE);
  if (size == metadata_size_) return Done{};
  Result<std::string> blocks = producer_.EventBlocks();
  if (!blocks) return Error{blocks.error()};
  const std::string text = ComposeHead(head_) + *blocks;
  Result<Metadata> metadata = ParseMetadata(text);
  if (!metadata) return Error{metadata.error()};
  metadata_ = std::move(*metadata);
  metadata_size_ = blocks->size();
  return ReplaceFile(dir_ + "/metadata", text);
}

void TraceWriter::Refresh(bool consume, const std::string &channel) {
  for (const std::string &path : producer_.RingPaths()) {
    if (rings_.count(path) != 0 || (!channel.empty() && std::filesystem::path(path).stem() != channel))
      continue;
    Result<RingFile> file = consume ? RingFile::OpenForConsumer(path) : RingFile::Open(path);
    // One that is being made has no magic yet: next time.
    if (!file) continue;
    Ring ring;
    ring.consume = consume && file->head().mode == GKHI_RING_DISCARD;
    ring.streams.resize(file->n_streams());
    ring.file = std::move(*file);
    if (ring.consume) ring.file.Attach(true);
    rings_.emplace(path, std::move(ring));
  }
}

Status TraceWriter::Append(Ring *ring, uint32_t stream) {
  StreamState &state = ring->streams[stream];
  const std::string path = dir_ + "/" + StreamName(ring->file, stream);
  if (state.fd < 0) {
    state.fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (state.fd < 0) return Cannot("write", path);
  }
  return WriteAll(state.fd, buffer_.data(), buffer_.size(), path);
}

Status TraceWriter::CloseOpenPacket(uint32_t events) {
  Status ended = EndOpenPacket(metadata_, events, buffer_.data(), buffer_.size());
  if (!ended) problems_.push_back(fmt::format("{}: {}", dir_, ended.error()));
  return Done{};
}

Status TraceWriter::WritePacket(Ring *ring, uint32_t stream, bool open, uint32_t events) {
  StreamState &state = ring->streams[stream];
  const gkhi_packet *header = Header(&buffer_);
  ring->totals.overwritten += header->count_begin - state.count;
  state.count = header->count_begin + events;
  state.next = header->packet_seq_num + 1;
  // A packet that says nothing new: an idle cpu.
  if (events == 0 && header->events_discarded == state.discarded) return Done{};
  state.discarded = header->events_discarded;
  // What the packet holds was declared before: metadata first.
  Status status = WriteMetadata();
  if (status && open) status = CloseOpenPacket(events);
  if (status) status = Append(ring, stream);
  if (!status) return status;
  ring->totals.events += events;
  ring->totals.packets++;
  ring->totals.bytes += buffer_.size();
  return Done{};
}

Status TraceWriter::DrainStream(Ring *ring, uint32_t stream, bool with_open, uint64_t *packets) {
  StreamState &state = ring->streams[stream];
  // A writer that goes round faster than we copy may be ahead of us at the end: then once more, a few times.
  for (int round = 0; round < kRounds; round++) {
    const uint64_t last = ring->file.Last(stream).sequence;
    state.next = std::max(state.next, ring->file.Oldest(stream, last));
    for (uint64_t sequence = state.next; sequence < last + with_open; sequence++) {
      buffer_.clear();
      uint32_t events = 0;
      const RingFile::Copied kind = ring->file.CopyPacket(stream, sequence, &buffer_, &events);
      if (kind == RingFile::Copied::kGone) continue;  // counted by the next one's count_begin
      Status status = WritePacket(ring, stream, kind == RingFile::Copied::kOpen, events);
      if (!status) return status;
      ++*packets;
      if (ring->consume && kind == RingFile::Copied::kClosed) ring->file.Acknowledge(stream, state.next);
    }
    if (state.next > last || !with_open) break;
  }
  return Done{};
}

Result<uint64_t> TraceWriter::Drain() {
  uint64_t packets = 0;
  for (auto &[path, ring] : rings_) {
    ring.seen_ready = __atomic_load_n(ring.file.ready_word(), __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; ring.consume && i < ring.file.n_streams(); i++) {
      Status status = DrainStream(&ring, i, false, &packets);
      if (!status) return Error{status.error()};
    }
  }
  return packets;
}

Status TraceWriter::Finish() {
  uint64_t packets = 0;
  for (auto &[path, ring] : rings_) {
    for (uint32_t i = 0; i < ring.file.n_streams(); i++) {
      Status status = DrainStream(&ring, i, true, &packets);
      if (!status) return status;
    }
  }
  head_.unrouted = producer_.Unrouted() - unrouted_before_;
  if (head_.unrouted > 0) metadata_size_ = UINT64_MAX;  // once more
  return WriteMetadata();
}

WriterTotals TraceWriter::totals() const {
  WriterTotals totals;
  totals.discarded = producer_.Unrouted() - unrouted_before_;
  for (const auto &[path, ring] : rings_) {
    totals.Add(ring.totals);
    for (const uint64_t lost : ring.file.LostByReason()) totals.discarded += lost;
  }
  return totals;
}

std::vector<ReadyWord> TraceWriter::ready_words() {
  std::vector<ReadyWord> words;
  for (auto &[path, ring] : rings_) {
    if (ring.consume) words.push_back({ring.file.ready_word(), ring.seen_ready});
  }
  return words;
}

uint64_t TraceWriter::EventsFired() const {
  uint64_t events = 0;
  for (const auto &[path, ring] : rings_) events += ring.file.Events();
  return events;
}

Result<WriterTotals> WriteSnapshot(const std::string &producer_dir, const ClockRecord &clock,
                                   const std::string &dir, std::vector<std::string> *problems) {
  Result<Producer> producer = Producer::Open(producer_dir);
  if (!producer) return Error{producer.error()};
  Result<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(std::move(*producer), clock, dir);
  if (!writer) return Error{writer.error()};
  (*writer)->Refresh(false, "");
  Status status = (*writer)->Finish();
  if (!status) return Error{status.error()};
  problems->insert(problems->end(), (*writer)->problems().begin(), (*writer)->problems().end());
  return (*writer)->totals();
}

}  // namespace gkhi::reader
