// SPDX-License-Identifier: MIT
// The wire layout and its hash, on the rules of gkhi/abi.h.
#include "layout.hpp"

#include <gtest/gtest.h>

#include "front.hpp"

namespace genevent {
namespace {

Event LoadEvent(const std::string &fields, const std::string &top = "") {
  const std::string text = "provider: p\n" + top + "events:\n  - name: e\n    fields:\n" + fields;
  Result<Checked> checked = Load(Source("p.yaml", text));
  EXPECT_TRUE(checked.ok()) << text;
  return checked.ok() ? checked.value().model.events[0] : Event{};
}

std::string Field(const std::string &type, const std::string &more = "") {
  static int n = 0;
  return "      - {name: f" + std::to_string(n++) + ", type: \"" + type + "\"" + more + "}\n";
}

TEST(LayoutTest, ScalarsAreNaturallyAlignedInDeclaredOrder) {
  const Event event = LoadEvent(Field("u8") + Field("u32") + Field("u16") + Field("u64") + Field("bool"));
  EXPECT_EQ(event.fields[0].offset, 0u);
  EXPECT_EQ(event.fields[1].offset, 4u);
  EXPECT_EQ(event.fields[2].offset, 8u);
  EXPECT_EQ(event.fields[3].offset, 16u);
  EXPECT_EQ(event.fields[4].offset, 24u);
  EXPECT_EQ(event.fixed_words, 4u);
  EXPECT_EQ(event.tails, 0u);
  EXPECT_EQ(event.max_words, 4u);
}

TEST(LayoutTest, ArraysOfSixteenBytesAreFixedLargerOnesAreNot) {
  const Event event =
      LoadEvent(Field("u8") + Field("u32[4]") + Field("u8[17]") + Field("u64[2]") + Field("u64[3]"));
  EXPECT_EQ(event.fields[1].offset, 4u);
  EXPECT_FALSE(event.fields[1].tail);
  EXPECT_TRUE(event.fields[2].tail);
  EXPECT_EQ(event.fields[2].offset, kNoOffset);
  EXPECT_EQ(event.fields[3].offset, 24u);
  EXPECT_TRUE(event.fields[4].tail);
  EXPECT_EQ(event.fixed_words, 5u);
  EXPECT_EQ(event.max_words, 5u + 3 + 3);
}

TEST(LayoutTest, CountsStandWhereTheFieldIsDeclared) {
  const Event event =
      LoadEvent(Field("u16") + Field("binary", ", max: 9") + Field("u8") + Field("u16[]", ", max: 3"));
  EXPECT_EQ(event.fields[1].len_offset, 4u);
  EXPECT_EQ(event.fields[2].offset, 8u);
  EXPECT_EQ(event.fields[3].len_offset, 12u);
  EXPECT_EQ(event.fixed_words, 2u);
  EXPECT_EQ(event.tails, 2u);
  EXPECT_EQ(event.max_words, 2u + 2 + 1);
}

TEST(LayoutTest, StringsAreTailsWithoutACount) {
  const Event event = LoadEvent(Field("string", ", max: 16"));
  EXPECT_EQ(event.fixed_words, 0u);
  EXPECT_EQ(event.fields[0].len_offset, kNoOffset);
  EXPECT_EQ(event.max_words, 2u);
}

TEST(LayoutTest, HashFollowsTheBytesAndNothingElse) {
  const std::string top = "enums: {k: {a: 0}}\n";
  const auto hash = [&](const std::string &field, const std::string &enums) {
    return LoadEvent("      - " + field + "\n", enums).layout_hash;
  };
  const uint64_t base = hash("{name: x, type: u32}", "");
  EXPECT_EQ(base, hash("{name: x, type: u32, doc: other, format: hex}", ""));
  EXPECT_NE(base, hash("{name: y, type: u32}", ""));
  EXPECT_NE(base, hash("{name: x, type: s32}", ""));
  EXPECT_NE(base, hash("{name: x, type: \"u32[1]\"}", ""));
  EXPECT_NE(base, hash("{name: x, type: enum k}", top));
  EXPECT_EQ(hash("{name: x, type: enum k}", top),
            hash("{name: x, type: enum m}", "enums: {m: {b: 5, c: 6}}\n"));
  EXPECT_NE(hash("{name: x, type: enum k}", top),
            hash("{name: x, type: enum k}", "enums: {k: {type: u8, values: {a: 0}}}\n"));
  EXPECT_NE(hash("{name: x, type: string, max: 8}", ""), hash("{name: x, type: string, max: 9}", ""));
}

// The text and the hash are a format: maps, buffers and traces hold it.
TEST(LayoutTest, CanonicalTextIsAsDocumented) {
  const std::string text =
      "provider: p\nenums: {k: {type: s16, values: {a: 0}}}\nflags: {f: {b: 1}}\nevents:\n  - name: e\n    "
      "fields:\n"
      "      - {name: a, type: u8}\n      - {name: b, type: \"u16[3]\"}\n      - {name: c, type: \"s64[]\", "
      "max: 5}\n"
      "      - {name: d, type: string, max: 7}\n      - {name: e, type: binary}\n      - {name: f, type: "
      "enum k}\n"
      "      - {name: g, type: \"flags f[2]\"}\n      - {name: h, type: ptr}\n      - {name: i, type: f64}\n"
      "      - {name: j, type: bool}\n";
  Result<Checked> checked = Load(Source("p.yaml", text));
  ASSERT_TRUE(checked.ok());
  const Model &model = checked.value().model;
  EXPECT_EQ(
      CanonicalText(model, model.events[0]),
      "gkhi layout 1\nevent p:e\nfield a u8\nfield b u16[3]\nfield c s64[] max 5\nfield d string max 7\n"
      "field e binary max 256\nfield f enum:s16\nfield g flags:u32[2]\nfield h ptr\nfield i f64\nfield j "
      "bool\n");
  const Event plain = LoadEvent("      - {name: x, type: u32}\n");
  // printf 'gkhi layout 1\nevent p:e\nfield x u32\n' | xxhsum -H1
  EXPECT_EQ(plain.layout_hash, 0x897e9b3df945037eu);
}

}  // namespace
}  // namespace genevent
