// SPDX-License-Identifier: MIT
// ring_string_test.cc - tails: strings by stub and by write(), sequences, binaries, large arrays.
#include "ring_fixture.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <thread>

namespace gkhi_test {
namespace {

// The string that starts at payload word `at`; `end` becomes the word behind it.
std::string StringAt(const std::vector<uint64_t> &words, size_t at, size_t *end) {
  const char *bytes = reinterpret_cast<const char *>(words.data() + at);
  const size_t room = (words.size() - at) * 8, length = strnlen(bytes, room);
  EXPECT_LT(length, room) << "no NUL in the record";
  *end = at + length / 8 + 1;
  for (size_t i = length; i < (*end - at) * 8; i++)
    EXPECT_EQ(bytes[i], 0) << "bytes behind the NUL went to the buffer";
  return std::string(bytes, length);
}

class RingStrings : public RingTest,
                    public testing::WithParamInterface<std::tuple<uint32_t, uint16_t, uint32_t>> {};

TEST_P(RingStrings, EveryLengthAtEveryAlignment) {
  const auto [stream_class, words, max] = GetParam();
  fake_port.clock_kind = 1;
  Open(1 << 16, 8, stream_class);
  TestEvent event(words, 1, max);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 77, &priv);
  EXPECT_EQ(hook.stub != gkhi_stub_generic, stream() != fallback() && max >= 8 && words <= 8);

  char source[256];
  for (size_t align = 0; align < 16; align++) {
    for (size_t length = 0; length < 100; length++) {
      std::memset(source, 'x', sizeof(source));  // what must not get into the record
      for (size_t i = 0; i < length; i++) source[align + i] = static_cast<char>('A' + (i + length) % 57);
      source[align + length] = 0;
      std::vector<uint64_t> frame(words + 1u);
      for (uint16_t w = 0; w < words; w++) frame[w] = length * 100 + w;
      frame[words] = reinterpret_cast<uintptr_t>(source + align);
      channel_.backend->reset(&channel_);
      ASSERT_TRUE(fake_site_call(&hook, frame.data(), words + 1u)) << "a register was changed";
      const std::vector<Packet> packets = view().Packets(stream());
      ASSERT_EQ(packets.size(), 1u);
      ASSERT_EQ(packets[0].count, 1u);
      const size_t head = stream_class == GKHI_STREAM_WIDE ? 2 : 1;
      size_t end;
      EXPECT_EQ(StringAt(packets[0].words, head + words, &end),
                std::string(source + align, std::min<size_t>(length, max - 1)));
      EXPECT_EQ(end, packets[0].words.size());
      for (uint16_t w = 0; w < words; w++) EXPECT_EQ(packets[0].words[head + w], length * 100 + w);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RingStrings,
                         testing::Combine(testing::Values(0u, 1u, 2u), testing::Values<uint16_t>(0, 3, 8, 9),
                                          testing::Values(1u, 5u, 8u, 16u, 24u, 40u, 64u)));

TEST_F(RingTest, NullStringIsNamed) {
  fake_port.clock_kind = 1;
  Open(4096, 4);
  TestEvent event(1, 1, 64);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 7, &priv);
  const uint64_t frame[] = {5, 0};
  ASSERT_TRUE(fake_site_call(&hook, frame, 2));
  size_t end;
  EXPECT_EQ(StringAt(view().Packets(stream())[0].words, 2, &end), "(null)");
}

TEST_F(RingTest, StringAtTheEndOfItsPage) {
  fake_port.clock_kind = 1;
  Open(4096, 4);
  TestEvent event(1, 1, 64);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 7, &priv);
  char *page =
      static_cast<char *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(page + 4096, 4096, PROT_NONE), 0);
  for (size_t length = 0; length < 40; length++) {
    char *s = page + 4096 - length - 1;
    std::memset(s, 'e', length);
    s[length] = 0;
    const uint64_t frame[] = {length, reinterpret_cast<uintptr_t>(s)};
    channel_.backend->reset(&channel_);
    ASSERT_TRUE(fake_site_call(&hook, frame, 2));
    size_t end;
    EXPECT_EQ(StringAt(view().Packets(stream())[0].words, 2, &end), std::string(length, 'e'));
  }
  munmap(page, 8192);
}

// Records must be whole whatever the position in the packet; the last words of it are the slow path's.
TEST_F(RingTest, StringsFillPacketsToTheEnd) {
  fake_port.clock_kind = 1;
  Open(4096, 8);
  TestEvent event(2, 1, 64);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 7, &priv);
  std::vector<std::string> sent;
  for (uint64_t i = 0; i < 400; i++) {
    sent.push_back(std::string(i * 7 % 60, static_cast<char>('a' + i % 26)));
    const uint64_t frame[] = {i, ~i, reinterpret_cast<uintptr_t>(sent.back().c_str())};
    ASSERT_TRUE(fake_site_call(&hook, frame, 3));
  }
  size_t i = 0;
  for (const Packet &p : view().Packets(stream())) {
    EXPECT_TRUE(p.open || p.words.size() * 8 > 4096 - GKHI_PACKET_HEADER - 96) << "a packet was closed early";
    uint32_t count = 0;
    for (size_t at = 0; at < p.words.size(); count++, i++) {
      ASSERT_EQ(p.words[at + 1], i);
      ASSERT_EQ(StringAt(p.words, at + 3, &at), sent[i]);
    }
    EXPECT_EQ(count, p.count);
  }
  EXPECT_EQ(i, 400u);
}

TEST_F(RingTest, AllKindsOfTails) {
  Open(4096, 4);
  TestEvent event(2, 2, 16);  // counts in word 1: u32 at 8, u32 at 12
  gkhi_field sequence{}, binary{}, array{};
  sequence.type = GKHI_T_UINT, sequence.size = 4, sequence.form = GKHI_FORM_SEQUENCE,
  sequence.offset = GKHI_NO_OFFSET;
  sequence.len_offset = 8, sequence.max = 8;
  binary.type = GKHI_T_BINARY, binary.size = 1, binary.form = GKHI_FORM_SEQUENCE,
  binary.offset = GKHI_NO_OFFSET;
  binary.len_offset = 12, binary.max = 32;
  array.type = GKHI_T_UINT, array.size = 2, array.form = GKHI_FORM_ARRAY, array.offset = GKHI_NO_OFFSET;
  array.len_offset = GKHI_NO_OFFSET, array.max = 10;
  event.fields().insert(event.fields().end(), {sequence, binary, array});
  event.Refresh();
  const uint32_t numbers[] = {1, 2, 3};
  const char bytes[] = "0123456789";
  const uint16_t shorts[10] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  const uint64_t frame[] = {42,
                            3ull | 10ull << 32,
                            reinterpret_cast<uintptr_t>("first"),
                            reinterpret_cast<uintptr_t>("a string that is cut"),
                            reinterpret_cast<uintptr_t>(numbers),
                            reinterpret_cast<uintptr_t>(bytes),
                            reinterpret_cast<uintptr_t>(shorts)};
  ASSERT_EQ(Write(event, 7, {std::begin(frame), std::end(frame)}), 0);
  const std::vector<uint64_t> words = view().Packets(stream())[0].words;
  size_t at = 3;
  EXPECT_EQ(StringAt(words, at, &at), "first");
  EXPECT_EQ(StringAt(words, at, &at), "a string that i");
  ASSERT_EQ(words.size(), at + 2 + 2 + 3);
  EXPECT_EQ(words[at], 1ull | 2ull << 32);
  EXPECT_EQ(words[at + 1], 3u);
  EXPECT_EQ(std::memcmp(&words[at + 2], "0123456789\0\0\0\0\0\0", 16), 0);
  EXPECT_EQ(std::memcmp(&words[at + 4], shorts, 20), 0);
  EXPECT_EQ(words[at + 6] >> 32, 0u) << "padding";
}

TEST_F(RingTest, PointersToNothingBecomeZeros) {
  Open(4096, 4);
  TestEvent event(1);
  gkhi_field sequence{};
  sequence.type = GKHI_T_UINT, sequence.size = 8, sequence.form = GKHI_FORM_SEQUENCE,
  sequence.offset = GKHI_NO_OFFSET;
  sequence.len_offset = 0, sequence.max = 8;
  event.fields().push_back(sequence);
  event.Refresh();
  ASSERT_EQ(Write(event, 7, {2, 0}), 0);
  EXPECT_EQ(view().Packets(stream())[0].words,
            (std::vector<uint64_t>{view().Packets(stream())[0].words[0], 2, 0, 0}));
}

// A neighbour that shortens and lengthens the string all the time: every record is whole.
TEST_F(RingTest, StringsThatChangeMeanwhile) {
  fake_port.clock_kind = 1;
  Open(1 << 16, 4);
  TestEvent one(1, 1, 64), two(1, 2, 64);
  fake_hook priv_one, priv_two;
  gkhi_hook hook_one = MakeHook(one, 7, &priv_one), hook_two = MakeHook(two, 8, &priv_two);
  static char shared[64];
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (unsigned i = 0; !stop; i++) {
      const size_t n = i * 13 % 60;
      std::memset(shared, 'a', n);
      shared[n] = 0;
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &all);
  sched_setaffinity(0, sizeof(all), &all);  // of this thread; the other one inherited one cpu
  uint64_t whole = 0;
  for (uint64_t i = 0; i < 100000; i++) {
    const uint64_t frame[] = {i, reinterpret_cast<uintptr_t>(shared), reinterpret_cast<uintptr_t>(shared)};
    const bool twice = i % 2;
    ASSERT_TRUE(fake_site_call(twice ? &hook_two : &hook_one, frame, twice ? 3 : 2));
  }
  stop = true;
  writer.join();
  for (uint32_t s = 0; s < view().file().n_streams; s++) {
    for (const Packet &p : view().Packets(s)) {
      uint32_t count = 0;
      for (size_t at = 0; at < p.words.size(); count++) {
        const uint32_t id = p.words[at] & 0xffff;
        ASSERT_TRUE(id == 7 || id == 8);
        StringAt(p.words, at + 2, &at);
        if (id == 8) StringAt(p.words, at, &at);
      }
      ASSERT_EQ(count, p.count);
      whole += count;
    }
  }
  EXPECT_GT(whole, 0u);
}

}  // namespace
}  // namespace gkhi_test
