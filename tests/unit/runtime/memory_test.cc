// SPDX-License-Identifier: MIT
// The runtime's memory: aligned, zeroed, given back by size.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
#include "port_posix.h"
}

namespace {

bool IsZero(const void *p, size_t n) {
  const auto *bytes = static_cast<const char *>(p);
  for (size_t i = 0; i < n; i++)
    if (bytes[i]) return false;
  return true;
}

TEST(Memory, AlignedAndZeroed) {
  for (size_t size = 0; size < 3000; size += 7) {
    void *p = port_alloc(size);
    ASSERT_TRUE(p);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 16, 0u);
    EXPECT_TRUE(IsZero(p, size));
    std::memset(p, 0xff, size);
    port_free(p, size);
    void *again = port_alloc(size);
    EXPECT_EQ(again, p) << "the block that was given back last";
    EXPECT_TRUE(IsZero(again, size)) << "of " << size;
  }
}

TEST(Memory, WholeLinesBeginAtALine) {
  void *odd = port_alloc(16);
  for (int i = 1; i < 20; i++) {
    void *p = port_alloc(static_cast<size_t>(i) * 64);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u) << i;
    port_alloc(16);
  }
  port_free(odd, 16);
}

TEST(Memory, NeighboursLieTogether) {
  auto *first = static_cast<char *>(port_alloc(320));
  for (int i = 1; i < 100; i++) {
    auto *next = static_cast<char *>(port_alloc(320));
    ASSERT_EQ(next - first, 320 * i) << "what is registered together is walked together";
  }
}

TEST(Memory, Large) {
  void *p = port_alloc(10 << 20);
  ASSERT_TRUE(p);
  EXPECT_TRUE(IsZero(p, 10 << 20));
  std::memset(p, 1, 10 << 20);
  port_free(p, 10 << 20);
}

TEST(Memory, TooLarge) {
  errno = 7;
  EXPECT_EQ(port_alloc(SIZE_MAX), nullptr);
  EXPECT_EQ(port_alloc(SIZE_MAX / 2 + 4096), nullptr);
  EXPECT_EQ(port_alloc(1ull << 50), nullptr);
  EXPECT_EQ(errno, 7) << "nobody's errno";
  port_free(nullptr, 100);
}

TEST(Memory, NoBlockIsGivenTwice) {
  struct Block {
    unsigned char *p;
    size_t size;
    unsigned char fill;
  };
  std::mt19937 random(5);
  std::vector<Block> blocks;
  for (int i = 0; i < 50000; i++) {
    if (blocks.size() > 300 || (!blocks.empty() && random() % 3 == 0)) {
      const size_t at = random() % blocks.size();
      const Block b = blocks[at];
      for (size_t k = 0; k < b.size; k++) ASSERT_EQ(b.p[k], b.fill);
      port_free(b.p, b.size);
      blocks[at] = blocks.back();
      blocks.pop_back();
      continue;
    }
    const size_t size = 1 + random() % (random() % 20 == 0 ? 90000 : 700);
    Block b{static_cast<unsigned char *>(port_alloc(size)), size,
            static_cast<unsigned char>(1 + random() % 255)};
    ASSERT_TRUE(b.p);
    ASSERT_TRUE(IsZero(b.p, size));
    std::memset(b.p, b.fill, size);
    blocks.push_back(b);
  }
}

}  // namespace
