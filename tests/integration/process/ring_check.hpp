// SPDX-License-Identifier: MIT
// Counts what the rings of a process's directory hold, byte by byte and without the trace library: a second
// opinion.
#ifndef GKHI_TESTS_PROCESS_RING_CHECK_HPP
#define GKHI_TESTS_PROCESS_RING_CHECK_HPP

#include <gkhi/ring.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

namespace gkhi::test {

struct RingCount {
  uint64_t committed = 0;  // events that were written, those overwritten since included
  uint64_t read = 0;       // events that stand in the packets
  uint64_t torn = 0;       // with a check word or an id that is wrong
  uint64_t twice = 0;      // with a seq that was there already
  uint64_t backwards = 0;  // earlier than the one before
  uint64_t fallback = 0;   // of those read: in the fallback stream
  uint64_t lost = 0;
  uint64_t bad_packets = 0;
};

class RingReader {
 public:
  explicit RingReader(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }
  // host:tick's records: header word, seq, seq * constant.
  RingCount Count() {
    RingCount count;
    const auto *file = At<gkhi_ring_file>(0);
    if (!file || file->magic != GKHI_RING_MAGIC || file->stream_class != GKHI_STREAM_COMPACT) {
      count.bad_packets = 1;
      return count;
    }
    for (uint32_t stream = 0; stream < file->n_streams; stream++)
      CountStream(*file, GKHI_RING_PAGE + stream * file->stride, stream == file->n_cpus, &count);
    return count;
  }

 private:
  template <typename T>
  const T *At(uint64_t offset) const {
    return offset + sizeof(T) <= bytes_.size() ? reinterpret_cast<const T *>(&bytes_[offset]) : nullptr;
  }

  void CountStream(const gkhi_ring_file &file, uint64_t base, bool fallback, RingCount *count) {
    const auto *cpu = At<gkhi_ring_cpu>(base + file.cpu_offset);
    if (!cpu) {
      count->bad_packets++;
      return;
    }
    const uint64_t data = base + file.data_offset;
    const uint32_t last = gkhi_commit_offset(cpu->commit);
    const uint32_t open = last / file.subbuf_size;
    count->lost += cpu->discarded;
    for (uint32_t i = 0; i < file.n_subbufs; i++) {
      const auto *packet = At<gkhi_packet>(data + uint64_t{i} * file.subbuf_size);
      if (!packet || packet->magic == 0) continue;  // never used
      // A killed writer may have been about to open the next one.
      if (i == (open + 1) % file.n_subbufs && file.n_subbufs > 1 && packet->packet_seq_num != 0) continue;
      uint64_t end = i == open ? last % file.subbuf_size + 8 : packet->content_size / 8;
      if (packet->magic != GKHI_CTF_MAGIC || end > file.subbuf_size || end < GKHI_PACKET_HEADER) {
        count->bad_packets++;
        continue;
      }
      if (i == open) count->committed += packet->count_begin + gkhi_commit_count(cpu->commit);
      CountPacket(data + uint64_t{i} * file.subbuf_size, end, fallback, count);
    }
  }

  void CountPacket(uint64_t base, uint64_t end, bool fallback, RingCount *count) {
    uint64_t before = 0;
    for (uint64_t at = GKHI_PACKET_HEADER; at + 24 <= end; at += 24) {
      const uint64_t *word = At<uint64_t>(base + at);
      count->read++;
      if (fallback) count->fallback++;
      if ((word[0] & 0xffff) != 1 || word[2] != word[1] * 0x9e3779b97f4a7c15u) count->torn++;
      if (!seen_.insert(word[1]).second) count->twice++;
      if (word[0] >> 16 < before) count->backwards++;
      before = word[0] >> 16;
    }
    if ((end - GKHI_PACKET_HEADER) % 24 != 0) count->torn++;
  }

  std::vector<char> bytes_;
  std::unordered_set<uint64_t> seen_;
};

// All rings below a folder of processes' directories.
inline RingCount CountRings(const std::string &folder) {
  RingCount all;
  std::error_code ignored;
  for (auto &entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".ring") continue;
    RingCount one = RingReader(entry.path()).Count();
    all.committed += one.committed;
    all.read += one.read;
    all.torn += one.torn;
    all.twice += one.twice;
    all.backwards += one.backwards;
    all.fallback += one.fallback;
    all.lost += one.lost;
    all.bad_packets += one.bad_packets;
  }
  return all;
}

}  // namespace gkhi::test

#endif
