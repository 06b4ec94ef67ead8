// SPDX-License-Identifier: MIT
// Builds packets, stream files and metadata by hand, so that a test says in five lines what is on disk.
#ifndef TESTS_PACKET_BUILDER_HPP
#define TESTS_PACKET_BUILDER_HPP

#include <gkhi/packet.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gkhi/reader/packet_index.hpp>
#include <string>
#include <vector>

namespace gkhi::reader::testing {

inline const Uuid kUuid = {0x5a, 0x71, 0xa4, 0x3c, 0x64, 0xf4, 0x4d, 0x7b, 0x97, 0xcc, 1, 2, 3, 4, 5, 6};
constexpr const char *kBootId = "01234567-89ab-cdef-0123-456789abcdef";

inline TraceHead Head() {
  TraceHead head;
  head.uuid = kUuid;
  head.clock = {ClockKind::kTsc, kBootId, 2000000000, 1700000000000000000, 5000000000};
  head.env = {4711, "demo", kBootId, "host"};
  return head;
}

// Event 1: two u64. Event 2: u32 and a string.
inline std::string TwoEvents() {
  return R"(/* gkhi-event {"id":1,"provider":"p","name":"two","layout":"0x460b6f75a9ba4fa4","message":"x is {x}, y is {y}","fixed_words":2,"fields":[{"name":"x","type":"u","size":8,"offset":0},{"name":"y","type":"u","size":8,"offset":8}]} */
event { name = "p:two"; id = 1; stream_id = 0; fields := struct { integer { size = 64; align = 8; } x; integer { size = 64; align = 8; } y; struct { } align(64) _end; }; };
/* gkhi-event {"id":2,"provider":"p","name":"text","layout":"0x6a74ce7503544316","fixed_words":1,"fields":[{"name":"n","type":"u","size":4,"offset":0},{"name":"s","type":"c","size":1,"offset":65535,"max":32}]} */
event { name = "p:text"; id = 2; stream_id = 0; fields := struct { integer { size = 32; align = 8; } n; struct { } align(64) __pad; string s; struct { } align(64) _end; }; };
)";
}

inline void PutWord(std::string *out, uint64_t word) {
  out->append(reinterpret_cast<const char *>(&word), 8);
}

inline std::string Compact(uint64_t ticks, uint32_t id, const std::string &payload) {
  std::string out;
  PutWord(&out, ticks << GKHI_ID_BITS | id);
  out += payload;
  out.resize((out.size() + 7) / 8 * 8);
  return out;
}

inline std::string Two(uint64_t ticks, uint64_t x, uint64_t y) {
  std::string payload;
  PutWord(&payload, x);
  PutWord(&payload, y);
  return Compact(ticks, 1, payload);
}

inline std::string Text(uint64_t ticks, uint32_t n, const std::string &s) {
  std::string payload;
  PutWord(&payload, n);
  return Compact(ticks, 2, payload + s + '\0');
}

// One packet, every field open to change before Bytes().
struct Packet {
  gkhi_packet header{};
  std::string body;

  Packet(uint64_t sequence, uint64_t count_begin, uint64_t begin, uint64_t end, const std::string &records) {
    header.magic = GKHI_CTF_MAGIC;
    std::memcpy(header.uuid, kUuid.data(), kUuid.size());
    header.timestamp_begin = begin;
    header.timestamp_end = end;
    header.packet_seq_num = sequence;
    header.count_begin = count_begin;
    header.pid = 4711;
    header.content_size = 8 * (GKHI_PACKET_HEADER + records.size());
    header.packet_size = header.content_size;
    body = records;
  }

  std::string Bytes() const {
    std::string out(reinterpret_cast<const char *>(&header), sizeof(header));
    out += body;
    if (header.packet_size / 8 > out.size() && header.packet_size / 8 < 1 << 20)
      out.resize(header.packet_size / 8);
    return out;
  }
};

// A trace directory that goes away with the test.
class TraceDir {
 public:
  explicit TraceDir(const std::string &metadata = ComposeHead(Head()) + TwoEvents()) {
    std::string name = (std::filesystem::temp_directory_path() / "gkhi-test.XXXXXX").string();
    path_ = mkdtemp(name.data());
    Write("metadata", metadata);
  }
  ~TraceDir() { std::filesystem::remove_all(path_); }
  TraceDir(const TraceDir &) = delete;
  TraceDir &operator=(const TraceDir &) = delete;

  void Write(const std::string &name, const std::string &bytes) {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
  }
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

inline Bytes AsBytes(const std::string &text) {
  return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

}  // namespace gkhi::reader::testing

#endif
