// SPDX-License-Identifier: MIT
// A process directory made by hand, and a ring writer that follows gkhi/ring.h step by step, without
// restartable sequences: one writer per stream.
#ifndef TESTS_PROCESS_BUILDER_HPP
#define TESTS_PROCESS_BUILDER_HPP

#include <fcntl.h>
#include <gkhi/control.h>
#include <gkhi/ring.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gkhi/reader/clock.hpp>

#include "packet_builder.hpp"

namespace gkhi::reader::testing {

class RingWriter {
 public:
  RingWriter(const std::string &path, gkhi_ring_mode mode, uint32_t subbuf_size, uint32_t n_subbufs,
             uint32_t n_cpus = 1, uint32_t stream_class = GKHI_STREAM_COMPACT) {
    gkhi_ring_file head{};
    head.version = GKHI_RING_VERSION;
    head.header_size = sizeof(head);
    std::memcpy(head.uuid, kUuid.data(), kUuid.size());
    head.pid = 4711;
    head.mode = mode;
    head.stream_class = stream_class;
    head.n_cpus = n_cpus;
    head.n_streams = n_cpus + 1;
    head.subbuf_size = subbuf_size;
    head.n_subbufs = n_subbufs;
    head.n_counters = GKHI_RING_COUNTERS;
    head.hits_offset = 8 * GKHI_RING_COUNTERS;
    head.cpu_offset = 16 * GKHI_RING_COUNTERS;
    head.data_offset = head.cpu_offset + GKHI_RC_DATA;
    head.stride = head.data_offset + uint64_t{subbuf_size} * n_subbufs;
    std::strcpy(head.channel, std::filesystem::path(path).stem().c_str());
    size_ = GKHI_RING_PAGE + head.n_streams * head.stride;
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(size_)), 0);
    data_ = static_cast<char *>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
    std::memcpy(data_, &head, sizeof(head));
    for (uint32_t i = 0; i < head.n_streams; i++) Open(i, 0, 0, 0, 0);
    __atomic_store_n(&file()->magic, GKHI_RING_MAGIC, __ATOMIC_RELEASE);
  }
  ~RingWriter() { munmap(data_, size_); }
  RingWriter(const RingWriter &) = delete;

  gkhi_ring_file *file() { return reinterpret_cast<gkhi_ring_file *>(data_); }
  gkhi_ring_cpu *cpu(uint32_t stream) {
    return reinterpret_cast<gkhi_ring_cpu *>(data_ + GKHI_RING_PAGE + stream * file()->stride +
                                             file()->cpu_offset);
  }
  gkhi_packet *OpenHeader(uint32_t stream) {
    const uint32_t offset = gkhi_commit_offset(cpu(stream)->commit) & ~(file()->subbuf_size - 1);
    return reinterpret_cast<gkhi_packet *>(Data(stream) + offset);
  }

  // One record, its header word included. False: full, and counted.
  bool Put(uint32_t stream, uint64_t ticks, const std::string &record) {
    gkhi_ring_cpu *rc = cpu(stream);
    const uint32_t size = file()->subbuf_size;
    const uint32_t used = (gkhi_commit_offset(rc->commit) & (size - 1)) + 8;
    if (size - used < record.size() && !NextPacket(stream, ticks)) {
      rc->lost_by_reason[GKHI_LOST_FULL]++;
      __atomic_fetch_add(&rc->discarded, 1, __ATOMIC_RELAXED);
      return false;
    }
    std::memcpy(Data(stream) + gkhi_commit_offset(rc->commit) + 8, record.data(), record.size());
    __atomic_store_n(&rc->commit, rc->commit + gkhi_commit_step(static_cast<uint32_t>(record.size() / 8)),
                     __ATOMIC_RELEASE);
    return true;
  }

 private:
  char *Data(uint32_t stream) { return reinterpret_cast<char *>(cpu(stream)) + GKHI_RC_DATA; }

  void Open(uint32_t stream, uint32_t index, uint64_t sequence, uint64_t count, uint64_t ticks) {
    gkhi_packet header{};
    header.magic = GKHI_CTF_MAGIC;
    std::memcpy(header.uuid, kUuid.data(), kUuid.size());
    header.stream_id = file()->stream_class;
    header.timestamp_begin = header.timestamp_end = ticks;
    header.content_size = 8 * GKHI_PACKET_HEADER;
    header.packet_size = uint64_t{8} * file()->subbuf_size;
    header.packet_seq_num = sequence;
    header.count_begin = count;
    header.cpu_id = stream < file()->n_cpus ? stream : GKHI_CPU_NONE;
    header.pid = 4711;
    const uint32_t at = index * file()->subbuf_size;
    std::memcpy(Data(stream) + at, &header, sizeof(header));
    __atomic_store_n(&cpu(stream)->commit, sequence << 56 | (at + GKHI_PACKET_HEADER - 8), __ATOMIC_RELEASE);
  }

  bool NextPacket(uint32_t stream, uint64_t ticks) {
    gkhi_ring_cpu *rc = cpu(stream);
    gkhi_packet *header = OpenHeader(stream);
    const uint64_t next = header->packet_seq_num + 1;
    if (file()->mode == GKHI_RING_DISCARD &&
        next - __atomic_load_n(&rc->tail, __ATOMIC_ACQUIRE) >= file()->n_subbufs) {
      return false;
    }
    const uint32_t index = gkhi_commit_offset(rc->commit) / file()->subbuf_size + 1;
    header->timestamp_end = ticks;
    header->content_size = 8 * ((gkhi_commit_offset(rc->commit) & (file()->subbuf_size - 1)) + 8);
    header->events_discarded = rc->discarded;
    Open(stream, index % file()->n_subbufs, next, header->count_begin + gkhi_commit_count(rc->commit), ticks);
    return true;
  }

  char *data_ = nullptr;
  size_t size_ = 0;
};

// <tmp>/run/4711-1/ with control and metadata; a clock record lies in <tmp>/run.
class ProcessDir {
 public:
  explicit ProcessDir(const std::string &blocks = TwoEvents()) : tmp_("") {
    gkhi_control control{};
    control.magic = GKHI_CONTROL_MAGIC;
    control.version = GKHI_CONTROL_VERSION;
    control.header_size = sizeof(control);
    std::memcpy(control.uuid, kUuid.data(), kUuid.size());
    control.pid = 4711;
    control.starttime = 1;
    control.clock = GKHI_CLOCK_TSC;
    control.metadata_size = blocks.size();
    std::strcpy(control.boot_id, kBootId);
    std::strcpy(control.comm, "demo");
    control.hooks_offset = sizeof(control);
    tmp_.Write("run/clock", FormatClock(Head().clock));
    tmp_.Write("run/4711-1/control", std::string(reinterpret_cast<const char *>(&control), sizeof(control)));
    // Room behind the blocks, as a live process leaves it.
    tmp_.Write("run/4711-1/metadata", blocks + std::string(1000, '\0'));
  }
  std::string path() const { return tmp_.path() + "/run/4711-1"; }
  std::string output() const { return tmp_.path() + "/out"; }
  std::string Ring(const std::string &channel) const { return path() + "/" + channel + ".ring"; }
  TraceDir &tmp() { return tmp_; }

 private:
  TraceDir tmp_;
};

}  // namespace gkhi::reader::testing

#endif
