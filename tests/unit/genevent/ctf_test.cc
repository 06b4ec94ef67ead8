// SPDX-License-Identifier: MIT
// The CTF text of genevent describes the bytes of its macros: babeltrace2 reads both.
#include <gkhi/packet.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "emit.hpp"
#include "files.hpp"
#include "frame_capture.hpp"
#include "front.hpp"
#include "gkhi_crowd.h"
#include "gkhi_types.h"
#include "gkhi_words.h"

extern "C" {
extern gkhi_hook gkhi_hook_types_none, gkhi_hook_types_scalars, gkhi_hook_types_tails;
extern gkhi_hook gkhi_hook_crowd_many, gkhi_hook_crowd_unaligned;
extern gkhi_hook gkhi_hook_words_new, gkhi_hook_words_keywords;
}

namespace {

namespace fs = std::filesystem;

// One packet of one provider's events in a trace directory of its own.
class Trace {
 public:
  explicit Trace(const std::string &provider) : provider_(provider) {
    std::string pattern = fs::temp_directory_path() / "gkhi-ctf-XXXXXX";
    dir_ = mkdtemp(pattern.data());
    std::string yaml;
    const std::string file = std::string(GKHI_GOLDEN_DIR) + "/pass/" + provider + ".yaml";
    EXPECT_EQ(genevent::ReadFile(file, &yaml), "");
    metadata_ = genevent::EmitCtf(genevent::Load(genevent::Source(provider + ".yaml", yaml)).value().model);
  }
  ~Trace() { fs::remove_all(dir_); }
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  template <typename Fire>
  void Add(const std::string &event, gkhi_hook *hook, Fire fire) {
    const std::string name = provider_ + ":" + event;
    frame_capture::Arm(hook);
    fire();
    frame_capture::Disarm(hook);
    const auto frames = frame_capture::TakeFrames();
    ASSERT_EQ(frames.size(), 1u);
    const uint64_t header = ++time_ << GKHI_ID_BITS | IdOf(name);
    content_.append(reinterpret_cast<const char *>(&header), 8);
    content_ += frame_capture::Payload(*frame_capture::FindEvent(name), frames[0]);
  }

  // What babeltrace2 prints, one line per event.
  std::string Read() {
    gkhi_packet packet{};
    packet.magic = GKHI_CTF_MAGIC;
    packet.timestamp_end = time_;
    packet.content_size = (sizeof packet + content_.size()) * 8;
    packet.packet_size = packet.content_size;
    std::ofstream(dir_ + "/metadata") << metadata_;
    std::ofstream(dir_ + "/stream").write(reinterpret_cast<const char *>(&packet), sizeof packet) << content_;
    const std::string command = "babeltrace2 --no-delta --fields=loglevel " + dir_ + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    std::string out;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    EXPECT_EQ(pclose(pipe), 0) << out;
    return out;
  }

 private:
  uint64_t IdOf(const std::string &name) const {
    const size_t at = metadata_.find("name = \"" + name + "\";\n\tid = ");
    EXPECT_NE(at, std::string::npos);
    return std::strtoull(metadata_.c_str() + metadata_.find("id = ", at) + 5, nullptr, 10);
  }

  std::string provider_;
  std::string dir_;
  std::string metadata_;
  std::string content_;
  uint64_t time_ = 0;
};

void ExpectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in:\n" << text;
}

TEST(CtfTest, Types) {
  Trace trace("types");
  const uint32_t sequence[3] = {1, 2, 3000000000u};
  const uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, UINT64_MAX};
  const double doubles[2] = {0.5, -1.25};
  const bool bools[3] = {true, false, true};
  const uint16_t shorts[7] = {1, 2, 3, 4, 5, 6, 65535};
  trace.Add("none", &gkhi_hook_types_none, [] { gkhi_types_none(); });
  trace.Add("scalars", &gkhi_hook_types_scalars, [] {
    gkhi_types_scalars(255, 65535, 4000000000u, UINT64_MAX, -128, -32768, INT32_MIN, INT64_MIN, true, 1.5,
                       reinterpret_cast<void *>(0xdead), GKHI_TYPES_COLOR_RED, GKHI_TYPES_MODE_WRITE,
                       GKHI_TYPES_BIG_HUGE);
  });
  trace.Add("tails", &gkhi_hook_types_tails, [&] {
    gkhi_types_tails("hello", "\x01\x02", 2, sequence, 3, words, doubles, nullptr, 0, bools, shorts, "", "x",
                     7, 8);
  });
  trace.Add("none", &gkhi_hook_types_none, [] { gkhi_types_none(); });
  const std::string text = trace.Read();
  ExpectHas(
      text,
      "a = 255, b = 65535, c = 4000000000, d = 18446744073709551615, e = -128, f = -32768, g = -2147483648, "
      "h = -9223372036854775808, i = 1, j = 1.5, k = 0xDEAD, l = ( \"red\" : container = -1 ), "
      "m = ( \"write\" : container = 0x2 ), n = ( \"huge\" : container = 18446744073709551615 )");
  ExpectHas(text, "s = \"hello\"");
  ExpectHas(text, "b = [ [0] = 0x1, [1] = 0x2 ]");
  ExpectHas(text, "q = [ [0] = 1, [1] = 2, [2] = 3000000000 ]");
  ExpectHas(text, "[6] = 7, [7] = 18446744073709551615 ]");
  ExpectHas(text, "d = [ [0] = 0.5, [1] = -1.25 ]");
  ExpectHas(text, "p = [ ]");
  ExpectHas(text, "t = [ [0] = 1, [1] = 0, [2] = 1 ]");
  ExpectHas(text, "[5] = 6, [6] = 65535 ]");
  ExpectHas(text, "s2 = \"\"");
  ExpectHas(text, "s3 = \"x\"");
  ExpectHas(text, "if = 7, struct = 8");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(CtfTest, ManyFieldsAndUnalignedArrays) {
  Trace trace("crowd");
  const uint8_t bytes[17] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  const uint16_t shorts[5] = {10, 20, 30, 40, 50};
  const int8_t odd[11] = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11};
  for (int i = 0; i < 3; i++) {
    trace.Add("unaligned", &gkhi_hook_crowd_unaligned,
              [&] { gkhi_crowd_unaligned(1, bytes, 2, 3, shorts, 4, odd); });
    trace.Add("many", &gkhi_hook_crowd_many, [&] {
      gkhi_crowd_many(1, -2, 3, -4, 5, false, 7, -8, 9, 10, -11, nullptr, "one", nullptr, bytes, 17, shorts,
                      2, bytes, bytes, -0.5);
    });
  }
  const std::string text = trace.Read();
  ExpectHas(text,
            "a = 1, mac = [ [0] = 1, [1] = 2, [2] = 3, [3] = 4, [4] = 5, [5] = 6 ], b = 2, c = 3, half = [ "
            "[0] = 10");
  ExpectHas(text, "d = 4, odd = [ [0] = -1, [1] = -2");
  ExpectHas(text, "[10] = -11 ]");
  ExpectHas(text,
            "a0 = 1, a1 = -2, a2 = 3, a3 = -4, a4 = 5, a5 = 0, a6 = 7, a7 = -8, a8 = 9, a9 = 10, a10 = -11, "
            "a11 = 0x0");
  ExpectHas(text, "s0 = \"one\"");
  ExpectHas(text, "s1 = \"(null)\"");
  ExpectHas(text, "q0 = [ [0] = 10, [1] = 20 ]");
  ExpectHas(text, "f0 = -0.5");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
}

TEST(CtfTest, WordsOfTsdlAndFormats) {
  Trace trace("words");
  const uint8_t bytes[16] = {0x20, 0x01};
  const uint8_t history[2] = {GKHI_WORDS_SWITCH_ON, 9};
  trace.Add("keywords", &gkhi_hook_words_keywords,
            [] { gkhi_words_keywords(1, 2, 3, 4, 5, 6, 7, 8, "ab", 2, 10); });
  trace.Add("new", &gkhi_hook_words_new, [&] {
    gkhi_words_new(GKHI_WORDS_SWITCH_MIXED_CASE, GKHI_WORDS_WIDE_BOTH, 8, 0xabc, 'x', bytes, 1, bytes,
                   history, 2);
  });
  const std::string text = trace.Read();
  ExpectHas(text,
            "if = 1, class = 2, struct = 3, uint32_t = 4, and = 5, integer = 6, event = 7, end = 8, "
            "_data_len = 2, data_len = 10");
  ExpectHas(text, "data = [ [0] = 0x61, [1] = 0x62 ]");
  ExpectHas(text, "state = ( \"Mixed_Case\" : container = 2 )");
  ExpectHas(text, "bits = ( \"both\" : container = 0x8000000000000001 ), mode = 010, address = 0xABC");
  ExpectHas(text, "history = [ [0] = ( \"on\" : container = 1 ), [1] = ( <unknown> : container = 9 ) ]");
}

}  // namespace
