// SPDX-License-Identifier: MIT
// Generated macros -> frames -> payloads: every value arrives, at the place that the descriptor names, and no
// argument is evaluated while the hook is off.
#include <gtest/gtest.h>

#include <climits>
#include <cstring>
#include <random>

#include "frame_capture.hpp"
#include "gkhi_crowd.h"
#include "gkhi_types.h"
#include "gkhi_words.h"

extern "C" {
extern gkhi_hook gkhi_hook_types_none, gkhi_hook_types_scalars, gkhi_hook_types_tails, gkhi_hook_types_st,
    gkhi_hook_types_mk;
extern gkhi_hook gkhi_hook_crowd_many, gkhi_hook_crowd_strings, gkhi_hook_crowd_unaligned,
    gkhi_hook_words_keywords;
}

namespace {

using frame_capture::Arm;
using frame_capture::Disarm;
using frame_capture::FindEvent;
using frame_capture::Payload;
using frame_capture::TakeFrames;

// Reads a payload by its descriptor.
class Decoded {
 public:
  Decoded(const char *name, const std::vector<uint64_t> &frame) : event_(*FindEvent(name)) {
    payload_ = Payload(event_, frame);
  }

  template <typename T>
  T Scalar(const char *name) const {
    T value{};
    const gkhi_field &field = Field(name);
    EXPECT_EQ(field.size, sizeof value) << name;
    EXPECT_EQ(field.offset % field.size, 0) << name;
    std::memcpy(&value, payload_.data() + field.offset, sizeof value);
    return value;
  }

  // Arrays, wherever they are; sequences; strings without the NUL.
  std::string Bytes(const char *name) const {
    const gkhi_field &field = Field(name);
    if (field.offset != GKHI_NO_OFFSET) return payload_.substr(field.offset, field.size * field.max);
    const size_t at = TailOffset(&field);
    if (field.type == GKHI_T_STRING) return payload_.c_str() + at;
    return payload_.substr(at, TailBytes(field, at));
  }

  template <typename T>
  std::vector<T> Elements(const char *name) const {
    const std::string bytes = Bytes(name);
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }

  size_t size() const { return payload_.size(); }
  const gkhi_event &event() const { return event_; }

 private:
  const gkhi_field &Field(const char *name) const {
    for (size_t i = 0; i < event_.n_fields; i++) {
      if (std::strcmp(event_.fields[i].name, name) == 0) return event_.fields[i];
    }
    ADD_FAILURE() << "no field " << name;
    return event_.fields[0];
  }

  size_t TailBytes(const gkhi_field &field, size_t at) const {
    if (field.type == GKHI_T_STRING) return std::strlen(payload_.c_str() + at) + 1;
    uint32_t count = field.max;
    if (field.len_offset != GKHI_NO_OFFSET) std::memcpy(&count, payload_.data() + field.len_offset, 4);
    return size_t{count} * field.size;
  }

  size_t TailOffset(const gkhi_field *wanted) const {
    size_t at = event_.fixed_words * 8u;
    for (const gkhi_field *field = event_.fields; field != wanted; field++) {
      if (field->offset == GKHI_NO_OFFSET) at = (at + TailBytes(*field, at) + 7) / 8 * 8;
    }
    return at;
  }

  const gkhi_event &event_;
  std::string payload_;
};

template <typename T>
std::string BytesOf(const T *values, size_t n) {
  return std::string(reinterpret_cast<const char *>(values), n * sizeof(T));
}

template <typename Fire>
Decoded Catch(const char *name, gkhi_hook *hook, Fire fire) {
  Arm(hook);
  fire();
  Disarm(hook);
  const auto frames = TakeFrames();
  EXPECT_EQ(frames.size(), 1u);
  return {name, frames.at(0)};
}

TEST(FrameTest, ArgumentsAreNotEvaluatedWhileOff) {
  int evaluated = 0;
  gkhi_types_st((evaluated++, "text"), (uint8_t)(evaluated++));
  EXPECT_EQ(evaluated, 0);
  EXPECT_FALSE(gkhi_types_st_enabled());
  Arm(&gkhi_hook_types_st);
  EXPECT_TRUE(gkhi_types_st_enabled());
  gkhi_types_st((evaluated++, "text"), (uint8_t)(evaluated++));
  Disarm(&gkhi_hook_types_st);
  EXPECT_EQ(evaluated, 2);
  EXPECT_EQ(TakeFrames().size(), 1u);
}

TEST(FrameTest, AnEventWithoutFieldsHasAnEmptyPayload) {
  EXPECT_EQ(Catch("types:none", &gkhi_hook_types_none, [] { gkhi_types_none(); }).size(), 0u);
}

TEST(FrameTest, HookAndDescriptorHaveTheSameLayoutHash) {
  EXPECT_EQ(gkhi_hook_types_scalars.layout, FindEvent("types:scalars")->layout);
  EXPECT_EQ(gkhi_hook_crowd_many.layout, FindEvent("crowd:many")->layout);
  EXPECT_EQ(gkhi_hook_crowd_many.fixed_words, FindEvent("crowd:many")->fixed_words);
  EXPECT_EQ(FindEvent("types:scalars")->abi, uint32_t{GKHI_ABI_VERSION});
}

TEST(FrameTest, ScalarsArriveAtTheirLimits) {
  const auto event = Catch("types:scalars", &gkhi_hook_types_scalars, [] {
    gkhi_types_scalars(UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX, INT8_MIN, INT16_MIN, INT32_MIN,
                       INT64_MIN, true, -0.0, reinterpret_cast<void *>(0x7fff12345678), GKHI_TYPES_COLOR_RED,
                       GKHI_TYPES_MODE_READ | GKHI_TYPES_MODE_WRITE, GKHI_TYPES_BIG_HUGE);
  });
  EXPECT_EQ(event.Scalar<uint8_t>("a"), UINT8_MAX);
  EXPECT_EQ(event.Scalar<uint16_t>("b"), UINT16_MAX);
  EXPECT_EQ(event.Scalar<uint32_t>("c"), UINT32_MAX);
  EXPECT_EQ(event.Scalar<uint64_t>("d"), UINT64_MAX);
  EXPECT_EQ(event.Scalar<int8_t>("e"), INT8_MIN);
  EXPECT_EQ(event.Scalar<int16_t>("f"), INT16_MIN);
  EXPECT_EQ(event.Scalar<int32_t>("g"), INT32_MIN);
  EXPECT_EQ(event.Scalar<int64_t>("h"), INT64_MIN);
  EXPECT_EQ(event.Scalar<uint8_t>("i"), 1);
  EXPECT_TRUE(std::signbit(event.Scalar<double>("j")));
  EXPECT_EQ(event.Scalar<uint64_t>("k"), 0x7fff12345678u);
  EXPECT_EQ(event.Scalar<int8_t>("l"), -1);
  EXPECT_EQ(event.Scalar<uint32_t>("m"), 3u);
  EXPECT_EQ(event.Scalar<uint64_t>("n"), UINT64_MAX);
  EXPECT_EQ(event.size(), event.event().fixed_words * 8u);
}

TEST(FrameTest, NullPointersAreTolerated) {
  const auto tails = Catch("types:tails", &gkhi_hook_types_tails, [] {
    gkhi_types_tails(nullptr, nullptr, 9, nullptr, 9, nullptr, nullptr, nullptr, 9, nullptr, nullptr, nullptr,
                     nullptr, 1, 2);
  });
  EXPECT_EQ(tails.Bytes("s"), "(null)");
  EXPECT_EQ(tails.Bytes("b"), "");
  EXPECT_EQ(tails.Bytes("q"), "");
  EXPECT_EQ(tails.Bytes("d"), std::string(16, '\0'));
  EXPECT_EQ(tails.Bytes("x"), std::string(14, '\0'));
  EXPECT_EQ(tails.Scalar<uint32_t>("struct"), 2u);
}

TEST(FrameTest, CountsAreClamped) {
  const std::vector<char> big(5000, 'x');
  const std::vector<uint32_t> many(100, 7);
  for (const uint64_t n : {uint64_t{100}, uint64_t{5000}, uint64_t{UINT32_MAX} + 2, UINT64_MAX}) {
    const auto tails = Catch("types:tails", &gkhi_hook_types_tails, [&] {
      gkhi_types_tails("s", big.data(), n, many.data(), n, nullptr, nullptr, nullptr, 0, nullptr, nullptr, "",
                       "", 1, 2);
    });
    EXPECT_EQ(tails.Bytes("b"), std::string(100, 'x'));
    EXPECT_EQ(tails.Elements<uint32_t>("q"), std::vector<uint32_t>(10, 7));
    EXPECT_LE(tails.size(), tails.event().max_words * 8u);
  }
}

TEST(FrameTest, StringsAreCutWithTheirNul) {
  const std::string text(100, 'y');
  const auto event = Catch("types:tails", &gkhi_hook_types_tails, [&] {
    gkhi_types_tails(text.c_str(), "", 0, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, "", "",
                     1, 2);
  });
  EXPECT_EQ(event.Bytes("s"), std::string(63, 'y'));
}

// This program is compiled with GKHI_NO_PATCHING: nobody could patch a bare pad.
TEST(FrameTest, ABareMarkerIsACallWhereCodeIsNotPatched) {
  int evaluated = 0;
  gkhi_types_mk((evaluated++, "off"), 1.5, nullptr, 0);
  EXPECT_EQ(evaluated, 0);
  const uint8_t bytes[300] = {9, 8, 7};
  const auto event = Catch("types:mk", &gkhi_hook_types_mk, [&] { gkhi_types_mk("on", 2.5, bytes, 300); });
  EXPECT_EQ(event.Bytes("s"), "on");
  EXPECT_EQ(event.Scalar<double>("v"), 2.5);
  EXPECT_EQ(event.Bytes("q"), BytesOf(bytes, 256));
}

TEST(FrameTest, KeywordsAreFieldsLikeOthers) {
  const auto event = Catch("words:keywords", &gkhi_hook_words_keywords,
                           [] { gkhi_words_keywords(1, 2, 3, 4, 5, 6, 7, 8, "ab", 2, 10); });
  EXPECT_EQ(event.Scalar<uint32_t>("if"), 1u);
  EXPECT_EQ(event.Scalar<uint32_t>("uint32_t"), 4u);
  EXPECT_EQ(event.Scalar<uint32_t>("and"), 5u);
  EXPECT_EQ(event.Scalar<uint32_t>("data_len"), 10u);
  EXPECT_EQ(event.Bytes("data"), "ab");
}

class RandomFrameTest : public testing::Test {
 protected:
  uint64_t Next() { return random_(); }
  std::string Text(size_t most) {
    std::string out(Next() % (most + 1), ' ');
    for (char &c : out) c = static_cast<char>('!' + Next() % 90);
    return out;
  }
  template <typename T, size_t N>
  void Fill(T (&array)[N]) {
    for (T &value : array) value = static_cast<T>(Next());
  }

 private:
  std::mt19937_64 random_{20260};
};

TEST_F(RandomFrameTest, UnalignedArrays) {
  for (int i = 0; i < 2000; i++) {
    uint8_t mac[6];
    uint16_t half[5];
    int8_t odd[11];
    Fill(mac);
    Fill(half);
    Fill(odd);
    const auto a = static_cast<uint8_t>(Next()), b = static_cast<uint8_t>(Next()),
               d = static_cast<uint8_t>(Next());
    const auto c = static_cast<uint16_t>(Next());
    const auto event = Catch("crowd:unaligned", &gkhi_hook_crowd_unaligned,
                             [&] { gkhi_crowd_unaligned(a, mac, b, c, half, d, odd); });
    ASSERT_EQ(event.Scalar<uint8_t>("a"), a);
    ASSERT_EQ(event.Scalar<uint8_t>("b"), b);
    ASSERT_EQ(event.Scalar<uint16_t>("c"), c);
    ASSERT_EQ(event.Scalar<uint8_t>("d"), d);
    ASSERT_EQ(event.Bytes("mac"), BytesOf(mac, 6));
    ASSERT_EQ(event.Bytes("half"), BytesOf(half, 5));
    ASSERT_EQ(event.Bytes("odd"), BytesOf(odd, 11));
  }
}

TEST_F(RandomFrameTest, ManyFields) {
  for (int i = 0; i < 2000; i++) {
    uint8_t w0[16], w1[17], bytes[24];
    uint16_t sequence[5];
    Fill(w0);
    Fill(w1);
    Fill(bytes);
    Fill(sequence);
    const std::string s0 = Text(31), s1 = Text(31);
    const uint64_t n_bytes = Next() % 25, n_sequence = Next() % 6, a0 = Next();
    const auto a1 = static_cast<int8_t>(Next());
    const auto a3 = static_cast<int32_t>(Next());
    const auto a10 = static_cast<int16_t>(Next());
    const bool a5 = (Next() & 1) != 0;
    const double f0 = static_cast<double>(Next()) / 3;
    const auto event = Catch("crowd:many", &gkhi_hook_crowd_many, [&] {
      gkhi_crowd_many(a0, a1, 2, a3, 4, a5, 6, 7, 8, 9, a10, &a0, s0.c_str(), s1.c_str(), bytes, n_bytes,
                      sequence, n_sequence, w0, w1, f0);
    });
    ASSERT_EQ(event.Scalar<uint64_t>("a0"), a0);
    ASSERT_EQ(event.Scalar<int8_t>("a1"), a1);
    ASSERT_EQ(event.Scalar<int32_t>("a3"), a3);
    ASSERT_EQ(event.Scalar<uint8_t>("a5"), a5);
    ASSERT_EQ(event.Scalar<int64_t>("a7"), 7);
    ASSERT_EQ(event.Scalar<int16_t>("a10"), a10);
    ASSERT_EQ(event.Scalar<const uint64_t *>("a11"), &a0);
    ASSERT_EQ(event.Bytes("s0"), s0);
    ASSERT_EQ(event.Bytes("s1"), s1);
    ASSERT_EQ(event.Bytes("b0"), BytesOf(bytes, n_bytes));
    ASSERT_EQ(event.Bytes("q0"), BytesOf(sequence, n_sequence));
    ASSERT_EQ(event.Bytes("w0"), BytesOf(w0, 16));
    ASSERT_EQ(event.Bytes("w1"), BytesOf(w1, 17));
    ASSERT_EQ(event.Scalar<double>("f0"), f0);
  }
}

// More pointers than an asm statement can name: what they point at was written just before.
TEST_F(RandomFrameTest, ManyPointersSeeFreshMemory) {
  for (int i = 0; i < 500; i++) {
    char s[7][8];
    for (int k = 0; k < 7; k++) std::snprintf(s[k], sizeof s[k], "%d.%d", i, k);
    const auto event = Catch("crowd:strings", &gkhi_hook_crowd_strings,
                             [&] { gkhi_crowd_strings(s[0], s[1], s[2], s[3], s[4], s[5], s[6]); });
    for (int k = 0; k < 7; k++) {
      ASSERT_EQ(event.Bytes(("s" + std::to_string(k)).c_str()), std::to_string(i) + "." + std::to_string(k));
    }
  }
}

}  // namespace
