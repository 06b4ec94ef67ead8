// SPDX-License-Identifier: MIT
// stubs_test.cc - what stubs and the way out of them leave alone; which stub serves which event.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "ring_fixture.hpp"

extern "C" {
extern const char gkhi_stub_none[];
bool fake_vectors_survive(void (*fn)(void *, void *), void *a, void *b);
void port_call_saving_vectors(void (*fn)(void *a, void *b), void *a, void *b);
}

namespace gkhi_test {
namespace {

// Uses all that it may: vector registers, the x87 stack, libc, errno.
void Spoil(void *a, void *b) {
  char text[256];
  long double sum = 0;
  for (int i = 0; i < 100; i++) sum += std::sqrt(static_cast<long double>(i));
  std::snprintf(text, sizeof(text), "%.15Lg %s", sum, static_cast<const char *>(b));
  if (__builtin_cpu_supports("avx")) __asm__ volatile("vpxor %%xmm0, %%xmm0, %%xmm0\n vzeroall" ::: "memory");
  std::memcpy(a, text, sizeof(text));
  errno = EINVAL;
}

TEST(Stubs, VectorRegistersAndErrnoSurviveACall) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "no AVX here";
  char text[256] = "";
  errno = 4242;
  EXPECT_TRUE(fake_vectors_survive(Spoil, text, const_cast<char *>("spoilt")));
  EXPECT_EQ(errno, 4242);
  EXPECT_STREQ(text + std::strlen(text) - 6, "spoilt");
}

TEST_F(RingTest, StubForEveryEvent) {
  fake_port.clock_kind = 1;
  Open(4096, 4);
  TestEvent none(0), sixteen(16), seventeen(17), string(8, 1, 16), short_string(1, 1, 7), many(9, 1, 16),
      two(1, 2, 16);
  const void *generic = gkhi_stub_generic;
  const bool sequences = stream() != fallback();
  EXPECT_EQ(port_stub(none.get(), channel_.route) != generic, sequences);
  EXPECT_EQ(port_stub(sixteen.get(), channel_.route) != generic, sequences);
  EXPECT_EQ(port_stub(seventeen.get(), channel_.route), generic);
  EXPECT_EQ(port_stub(string.get(), channel_.route) != generic, sequences);
  EXPECT_EQ(port_stub(short_string.get(), channel_.route), generic);
  EXPECT_EQ(port_stub(many.get(), channel_.route), generic);
  EXPECT_EQ(port_stub(two.get(), channel_.route), generic);
  gkhi_route elsewhere{};  // several exits, another backend, none
  EXPECT_EQ(port_stub(none.get(), &elsewhere), generic);
}

TEST_F(RingTest, NoClockOfOursNoFastStub) {
  fake_port.clock_kind = 2;
  Open(4096, 4);
  TestEvent event(2);
  EXPECT_EQ(port_stub(event.get(), channel_.route), static_cast<const void *>(gkhi_stub_generic));
}

TEST_F(RingTest, StubThatDoesNothing) {
  Open(4096, 4);
  TestEvent event(2);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 5, &priv);
  hook.stub = const_cast<char *>(gkhi_stub_none);
  const uint64_t frame[] = {1, 2};
  EXPECT_TRUE(fake_site_call(&hook, frame, 2));
  EXPECT_EQ(view().Packets(stream())[0].count, 0u);
}

// A hook whose route does not take its stub's class ends in the slow path, not in the wrong stream.
TEST_F(RingTest, StubOfAnotherClass) {
  fake_port.clock_kind = 1;
  Open(4096, 4, GKHI_STREAM_COMPACT);
  TestEvent event(2);
  fake_hook priv;
  gkhi_hook hook = MakeHook(event, 5, &priv);
  Close();
  Open(4096, 4, GKHI_STREAM_WIDE);
  hook.route = channel_.route;
  const uint64_t frame[] = {1, 2};
  EXPECT_TRUE(fake_site_call(&hook, frame, 2));
  const std::vector<Record> records = SplitFixed(view().Packets(stream()), GKHI_STREAM_WIDE, 2);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].payload, (std::vector<uint64_t>{1, 2}));
}

}  // namespace
}  // namespace gkhi_test
