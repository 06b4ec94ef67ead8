// SPDX-License-Identifier: MIT
// Turns /dev/gkhi/CHANNEL.CPU into a CTF trace directory. What a device gives out are packets as files have
// them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <gkhi/reader/kernel_writer.hpp>
#include <gkhi/reader/stream.hpp>

#include "output_file.hpp"

namespace gkhi::reader {
namespace {

constexpr size_t kReadSize = 1 << 20;
constexpr size_t kReadsAtATime = 16;  // of one stream, so that the others get their turn
constexpr std::string_view kFirstEvent = "/* gkhi-event ";

Error Cannot(const char *what, const std::string &path) {
  return Error{fmt::format("cannot {} {}: {}", what, path, strerror(errno))};
}

gkhi_packet HeaderOf(std::string_view packet) {
  gkhi_packet header;
  std::memcpy(&header, packet.data(), sizeof(header));
  return header;
}

// Records of a whole packet, by decoding it.
uint64_t CountRecords(const Metadata &metadata, std::string_view packet) {
  const Bytes bytes(reinterpret_cast<const std::byte *>(packet.data()), packet.size());
  const StreamIndex index = IndexStream(bytes, metadata.head().uuid);
  StreamCursor cursor(metadata, index, bytes);
  while (cursor.Next() != nullptr) {
  }
  return cursor.events();
}

// "main.3" of "main": 3.
std::optional<uint32_t> CpuOf(const std::string &file, const std::string &channel) {
  uint32_t cpu = 0;
  if (file.size() < channel.size() + 2 || file.compare(0, channel.size(), channel) != 0 ||
      file[channel.size()] != '.')
    return std::nullopt;
  const char *from = file.data() + channel.size() + 1;
  const char *end = file.data() + file.size();
  const auto [at, ec] = std::from_chars(from, end, cpu);
  if (ec != std::errc() || at != end) return std::nullopt;
  return cpu;
}

}  // namespace

Result<std::unique_ptr<KernelWriter>> KernelWriter::Create(const std::string &devices,
                                                           const ClockSource &clock, const std::string &dir) {
  std::unique_ptr<KernelWriter> writer(new KernelWriter(devices, dir));
  const std::string path = devices + "/metadata";
  writer->metadata_file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (writer->metadata_file_ < 0) return Cannot("open", path);
  Status status = writer->ReadMetadata();
  if (!status) return Error{status.error()};
  Result<Metadata> metadata = ParseMetadata(writer->raw_);
  if (!metadata) return Error{fmt::format("{}: {}", path, metadata.error())};
  writer->head_ = metadata->head();
  // The same record as in the traces of processes: so they merge by ticks.
  Result<ClockRecord> shared = clock(writer->head_.clock.kind);
  if (!shared) return Error{shared.error()};
  if (shared->boot_id == writer->head_.clock.boot_id) writer->head_.clock = *shared;
  writer->blocks_at_ = std::min(writer->raw_.find(kFirstEvent), writer->raw_.size());
  std::error_code ec;
  std::filesystem::create_directories(dir, ec);
  if (ec) return Error{fmt::format("cannot make {}: {}", dir, ec.message())};
  status = writer->WriteMetadata();
  if (!status) return Error{status.error()};
  return writer;
}

KernelWriter::~KernelWriter() {
  if (metadata_file_ >= 0) close(metadata_file_);
  for (const Stream &stream : streams_) {
    if (stream.device >= 0) close(stream.device);
    if (stream.file >= 0) close(stream.file);
  }
}

// It only grows: what is new stands behind what we have.
Status KernelWriter::ReadMetadata() {
  char buffer[16384];
  for (;;) {
    const ssize_t n = read(metadata_file_, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Cannot("read", devices_ + "/metadata");
    if (n == 0) return Done{};
    raw_.append(buffer, n);
  }
}

Status KernelWriter::WriteMetadata() {
  const std::string text = ComposeHead(head_) + raw_.substr(blocks_at_);
  Result<Metadata> metadata = ParseMetadata(text);
  if (!metadata) return Error{metadata.error()};
  metadata_ = std::move(*metadata);
  return ReplaceFile(dir_ + "/metadata", text);
}

// Devices by cpu.
std::map<uint32_t, std::string> KernelWriter::StreamsOf(const std::string &channel) const {
  std::error_code ec;
  std::map<uint32_t, std::string> found;
  for (std::filesystem::directory_iterator it(devices_, ec), end; !ec && it != end; it.increment(ec)) {
    if (auto cpu = CpuOf(it->path().filename(), channel)) found.emplace(*cpu, it->path());
  }
  return found;
}

Status KernelWriter::Open(const std::string &channel) {
  const std::map<uint32_t, std::string> found = StreamsOf(channel);
  if (found.empty()) return Error{fmt::format("{} has no channel {}", devices_, channel)};
  for (const auto &[cpu, path] : found) {
    Stream stream;
    stream.name = fmt::format("{}_{}", channel, cpu);
    stream.device = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (stream.device < 0 && errno == EBUSY)
      return Error{fmt::format("{} has a consumer already, and can have one only", path)};
    if (stream.device < 0) return Cannot("open", path);
    streams_.push_back(std::move(stream));
  }
  return Done{};
}

Result<bool> KernelWriter::Read(Stream *stream) {
  const size_t before = stream->bytes.size();
  stream->bytes.resize(before + kReadSize);
  ssize_t n;
  do n = read(stream->device, stream->bytes.data() + before, kReadSize);
  while (n < 0 && errno == EINTR);
  stream->bytes.resize(before + std::max<ssize_t>(n, 0));
  if (n < 0 && errno != EAGAIN) return Cannot("read", devices_ + "/" + stream->name);
  return n > 0;
}

// What lies between the packet that was written last and @next: events of the former, and lost ones. NULL: it
// is the last of all.
void KernelWriter::CountLast(Stream *stream, const gkhi_packet *next) {
  if (!stream->last.empty()) {
    const gkhi_packet header = HeaderOf(stream->last);
    const bool follows = next != nullptr && next->packet_seq_num == header.packet_seq_num + 1;
    const uint64_t events =
        follows ? next->count_begin - header.count_begin : CountRecords(metadata_, stream->last);
    stream->totals.events += events;
    stream->count = header.count_begin + events;
  }
  if (next != nullptr) stream->totals.overwritten += next->count_begin - stream->count;
}

Status KernelWriter::WritePacket(Stream *stream, std::string_view packet) {
  const std::string path = dir_ + "/" + stream->name;
  if (stream->file < 0) {
    stream->file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (stream->file < 0) return Cannot("write", path);
  }
  const gkhi_packet header = HeaderOf(packet);
  CountLast(stream, &header);
  stream->last = packet;
  stream->totals.packets++;
  stream->totals.bytes += packet.size();
  return WriteAll(stream->file, packet.data(), packet.size(), path);
}

Status KernelWriter::WritePackets(Stream *stream, uint64_t *packets) {
  std::string_view rest = stream->bytes;
  while (rest.size() >= sizeof(gkhi_packet)) {
    const gkhi_packet header = HeaderOf(rest);
    const uint64_t size = header.packet_size / 8;
    if (header.magic != GKHI_CTF_MAGIC || size < sizeof(gkhi_packet) || header.packet_size % 64 != 0)
      return Error{fmt::format("{}/{}: no packet where one was wanted", devices_, stream->name)};
    if (rest.size() < size) break;
    Status status = WritePacket(stream, rest.substr(0, size));
    if (!status) return status;
    rest.remove_prefix(size);
    ++*packets;
  }
  stream->bytes.erase(0, stream->bytes.size() - rest.size());
  return Done{};
}

Result<uint64_t> KernelWriter::Drain() {
  uint64_t packets = 0;
  for (Stream &stream : streams_) {
    for (size_t i = 0; i < kReadsAtATime; i++) {
      Result<bool> got = Read(&stream);
      if (!got) return Error{got.error()};
      if (!*got) break;
      // What was read was declared before: metadata first.
      const size_t known = raw_.size();
      Status status = ReadMetadata();
      if (status && raw_.size() != known) status = WriteMetadata();
      if (status) status = WritePackets(&stream, &packets);
      if (!status) return Error{status.error()};
    }
  }
  return packets;
}

Status KernelWriter::End(unsigned long command) {
  for (Stream &stream : streams_) {
    if (ioctl(stream.device, command) != 0) return Cannot("end the packets of", devices_ + "/" + stream.name);
  }
  for (;;) {
    Result<uint64_t> drained = Drain();
    if (!drained) return Error{drained.error()};
    if (*drained == 0) break;
  }
  for (Stream &stream : streams_) CountLast(&stream, nullptr);
  return Done{};
}

Status KernelWriter::Finish() {
  return End(GKHI_DATA_FLUSH);
}

Status KernelWriter::Snapshot() {
  return End(GKHI_DATA_SNAPSHOT);
}

WriterTotals KernelWriter::totals() const {
  WriterTotals totals;
  for (const Stream &stream : streams_) {
    totals.Add(stream.totals);
    gkhi_data_info info{};
    if (ioctl(stream.device, GKHI_DATA_INFO, &info) != 0) continue;
    for (const uint64_t lost : info.lost) totals.discarded += lost;
  }
  return totals;
}

uint64_t KernelWriter::EventsFired() const {
  uint64_t events = 0;
  for (const Stream &stream : streams_) {
    gkhi_data_info info{};
    if (ioctl(stream.device, GKHI_DATA_INFO, &info) == 0) events += info.events;
  }
  return events;
}

}  // namespace gkhi::reader
