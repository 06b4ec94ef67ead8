// SPDX-License-Identifier: MIT
// Writes the seeds of fuzz_reader into a folder: whole traces with every type, so that the fuzzer starts with
// valid ones.
#include <fmt/format.h>

#include <fstream>

#include "../unit/reader/packet_builder.hpp"

using namespace gkhi::reader;           // NOLINT
using namespace gkhi::reader::testing;  // NOLINT

namespace {

// All types: scalars of every size and format, fixed arrays, counted tails, a string, an enum, flags.
constexpr const char *kAllTypes =
    R"(/* gkhi-event {"id":3,"provider":"p","name":"all","layout":"0x7a0ec98bf46b9695","message":"{a} {s} {{}} {b:x}","fixed_words":10,"fields":[)"
    R"({"name":"a","type":"u","size":1,"show":6,"offset":0},{"name":"b","type":"s","size":2,"offset":2},)"
    R"({"name":"c","type":"u","size":4,"show":2,"offset":4},{"name":"d","type":"f","size":8,"offset":8},)"
    R"({"name":"e","type":"e","size":4,"offset":16,"signed":true,"enum":[["x",-1],["y",2]]},)"
    R"({"name":"g","type":"g","size":4,"offset":20,"enum":[["R",1],["W",2]]},{"name":"p","type":"p","size":8,"offset":24},)"
    R"({"name":"o","type":"o","size":1,"offset":32},{"name":"m","type":"u","size":1,"form":1,"show":4,"max":6,"offset":33},)"
    R"({"name":"u","type":"u","size":1,"form":1,"show":5,"max":16,"offset":40},)"
    R"({"name":"q","type":"u","size":2,"form":2,"len_offset":56,"max":8},{"name":"bin","type":"b","size":1,"len_offset":60,"max":32},)"
    R"({"name":"s","type":"c","size":1,"max":16},{"name":"big","type":"s","size":4,"form":1,"max":5}]} */
)";

std::string All(uint64_t ticks) {
  std::string payload(80, '\x11');
  const uint32_t counts[2] = {3, 5};
  std::memcpy(payload.data() + 56, counts, sizeof(counts));
  payload += std::string("\1\0\2\0\3\0\0\0", 8) + std::string("hello\0\0\0", 8) +
             std::string("string\0\0", 8) + std::string(24, '\x7f');
  return Compact(ticks, 3, payload);
}

void Write(const std::string &path, const std::string &metadata, const std::string &first,
           const std::string &second) {
  const auto a = static_cast<uint16_t>(metadata.size());
  const auto b = static_cast<uint16_t>(first.size());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char *>(&a), 2);
  out.write(reinterpret_cast<const char *>(&b), 2);
  out << metadata << first << second;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const std::string dir = std::string(argv[1]) + "/";
  std::filesystem::create_directories(dir);
  const std::string metadata = ComposeHead(Head()) + TwoEvents() + kAllTypes;
  const std::string two = Packet(0, 0, 5, 9, Two(5, 1, 2) + Text(9, 3, "a b")).Bytes();
  Packet wide(0, 0, 10, 20, std::string());
  for (const uint64_t word : {uint64_t{10}, uint64_t{1} | uint64_t{77} << 32, uint64_t{5}, uint64_t{6}})
    PutWord(&wide.body, word);
  wide.header.stream_id = GKHI_STREAM_WIDE;
  wide.header.content_size = wide.header.packet_size = 8 * (GKHI_PACKET_HEADER + wide.body.size());
  Packet noclock(0, 0, 7, 7, std::string());
  for (const uint64_t word : {uint64_t{1}, uint64_t{5}, uint64_t{6}}) PutWord(&noclock.body, word);
  noclock.header.stream_id = GKHI_STREAM_NOCLOCK;
  noclock.header.content_size = noclock.header.packet_size = 8 * (GKHI_PACKET_HEADER + noclock.body.size());
  Write(dir + "two", metadata, two, two + Packet(1, 2, 10, 11, Two(11, 4, 5)).Bytes());
  Write(dir + "all", metadata, Packet(0, 0, 1, 9, All(1) + All(9)).Bytes(), wide.Bytes());
  Write(dir + "noclock", metadata, noclock.Bytes(), "");
  Write(dir + "gap", metadata, two + Packet(4, 9, 20, 20, All(20)).Bytes(), std::string(50, '\xee') + two);
  Write(dir + "cut", metadata, two.substr(0, two.size() - 5), two.substr(3));
  Write(dir + "unknown", metadata, Packet(0, 0, 1, 1, Compact(1, 9, "12345678")).Bytes(), "");
  return 0;
}
