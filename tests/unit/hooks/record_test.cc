// SPDX-License-Identifier: MIT
// The map of an object, whole and damaged.
#include <cstring>

#include "fake_port.hpp"

namespace gkhi_test {

static std::string Record(const std::string &event, const std::string &file = "a.c", int nargs = 1) {
  std::string body = event + '\0' + "fn" + '\0' + file + '\0';
  for (int i = 0; i < nargs; i++) body.append("u\x04", 2).append("x", 2).append("%eax", 5);
  while (body.size() % 4) body += '\0';
  gkhi_record r{};
  r.magic = GKHI_RECORD_MAGIC;
  r.version = GKHI_RECORD_VERSION;
  r.size = static_cast<uint32_t>(sizeof(r) + body.size());
  r.padlen = GKHI_PAD_LEN;
  r.nargs = static_cast<uint8_t>(nargs);
  return std::string(reinterpret_cast<char *>(&r), sizeof(r)) + body;
}

struct Walk {
  std::vector<std::string> events;
  uint32_t broken = 0;
};

static Walk WalkAll(const std::string &bytes) {
  // a block of exactly this size, so that a sanitizer sees a look behind it
  std::unique_ptr<char[]> copy(new char[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  Walk w;
  const char *cursor = copy.get();
  while (const gkhi_record *r = gkhi_record_next(&cursor, copy.get() + bytes.size(), &w.broken))
    w.events.emplace_back(gkhi_record_event(r));
  return w;
}

static uint32_t &SizeOf(std::string &record) {
  return reinterpret_cast<gkhi_record *>(record.data())->size;
}
static gkhi_record &HeadOf(std::string &record) {
  return *reinterpret_cast<gkhi_record *>(record.data());
}

TEST(RecordTest, Walk) {
  const Walk w = WalkAll(Record("net:rx") + Record("net:tx", "b.c", 0) + Record("disk:io", "c.c", 9));
  EXPECT_EQ(w.events, (std::vector<std::string>{"net:rx", "net:tx", "disk:io"}));
  EXPECT_EQ(w.broken, 0u);
}

TEST(RecordTest, Strings) {
  const std::string bytes = Record("net:rx", "drivers/rx.c");
  const auto *r = reinterpret_cast<const gkhi_record *>(bytes.data());
  EXPECT_STREQ(gkhi_record_event(r), "net:rx");
  EXPECT_STREQ(gkhi_record_function(r), "fn");
  EXPECT_STREQ(gkhi_record_file(r), "drivers/rx.c");
}

TEST(RecordTest, NothingAtAll) {
  EXPECT_TRUE(WalkAll("").events.empty());
  EXPECT_EQ(WalkAll("abc").broken, 0u);
}

TEST(RecordTest, ZeroesBetweenFilesAreNoFault) {
  const Walk w = WalkAll(Record("net:rx") + std::string(12, '\0') + Record("net:tx"));
  EXPECT_EQ(w.events.size(), 2u);
  EXPECT_EQ(w.broken, 0u);
}

TEST(RecordTest, RubbishBetweenIsOneFault) {
  const Walk w = WalkAll(Record("net:rx") + std::string(64, 'x') + Record("net:tx"));
  EXPECT_EQ(w.events, (std::vector<std::string>{"net:rx", "net:tx"}));
  EXPECT_EQ(w.broken, 1u);
}

TEST(RecordTest, EachDamageIsCountedAndTheNextRecordFound) {
  struct Damage {
    const char *what;
    std::function<void(std::string &)> do_it;
  };
  const Damage damages[] = {
      {"magic", [](std::string &r) { r[0] = 0x11; }},
      {"version", [](std::string &r) { HeadOf(r).version = 9; }},
      {"pad length", [](std::string &r) { HeadOf(r).padlen = 1; }},
      {"no pad in the hot path",
       [](std::string &r) {
         HeadOf(r).padlen = 0;
         HeadOf(r).flags = GKHI_RECORD_BARE;
       }},
      {"size below the head", [](std::string &r) { SizeOf(r) = 8; }},
      {"size unaligned", [](std::string &r) { SizeOf(r) += 2; }},
      {"size beyond the section", [](std::string &r) { SizeOf(r) = 4096; }},
      {"event without end",
       [](std::string &r) { std::memset(&r[sizeof(gkhi_record)], 'e', r.size() - sizeof(gkhi_record)); }},
      {"event without provider", [](std::string &r) { r[sizeof(gkhi_record) + 3] = '_'; }},
      {"more arguments than there are", [](std::string &r) { HeadOf(r).nargs = 200; }},
  };
  for (const Damage &d : damages) {
    std::string bad = Record("net:rx");
    d.do_it(bad);
    const Walk w = WalkAll(bad + Record("net:tx"));
    EXPECT_EQ(w.events, (std::vector<std::string>{"net:tx"})) << d.what;
    EXPECT_EQ(w.broken, 1u) << d.what;
  }
}

TEST(RecordTest, EveryTruncationEndsQuietly) {
  const std::string all = Record("net:rx") + Record("net:tx");
  const size_t first = Record("net:rx").size();
  for (size_t n = 0; n < all.size(); n++) {
    const Walk w = WalkAll(all.substr(0, n));
    EXPECT_EQ(w.events.size(), n >= first ? 1u : 0u) << n;
  }
}

TEST(RecordTest, EveryFlippedByteIsSurvived) {
  const std::string all = Record("net:rx") + Record("net:tx") + Record("disk:io");
  for (size_t i = 0; i < all.size(); i++) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bad = all;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      EXPECT_LE(WalkAll(bad).events.size(), 3u);
    }
  }
}

}  // namespace gkhi_test
