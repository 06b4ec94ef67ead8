// SPDX-License-Identifier: MIT
// A schema from a damaged or hostile metadata file never makes the reader leave a record: every number is
// checked.
#include <gtest/gtest.h>
#include <gkhi/reader/schema.hpp>

namespace gkhi::reader {
namespace {

std::string WithFields(const std::string &fields, int words = 2) {
  return R"({"id":7,"provider":"p","name":"e","layout":"0x1f","fixed_words":)" + std::to_string(words) +
         R"(,"fields":[)" + fields + "]}";
}

TEST(Schema, TakesAllOfAnEvent) {
  Result<Event> event = ParseEventJson(
      R"({"id":5,"provider":"net","name":"rx","layout":"0xa34d6bbc0f08246f","doc":"d","message":"l={len}","stability":2,)"
      R"("loglevel":4,"fixed_words":2,"fields":[{"name":"len","type":"u","size":4,"form":0,"show":1,"offset":0},)"
      R"({"name":"addr","type":"u","size":1,"form":1,"show":2,"offset":4,"max":4},)"
      R"({"name":"data","type":"b","size":1,"form":0,"offset":65535,"len_offset":8,"max":100},)"
      R"({"name":"st","type":"e","size":4,"offset":12,"enum":[["down",0],["up",-1]]}]})");
  ASSERT_TRUE(event) << event.error();
  EXPECT_EQ(event->id, 5u);
  EXPECT_EQ(event->full_name, "net:rx");
  EXPECT_EQ(event->layout, 0xa34d6bbc0f08246fu);
  EXPECT_EQ(event->stability, GKHI_STABLE);
  EXPECT_EQ(event->loglevel, 4);
  EXPECT_EQ(event->fixed_bytes, 16u);
  EXPECT_EQ(event->n_tails, 1u);
  ASSERT_EQ(event->fields.size(), 4u);
  EXPECT_EQ(event->fields[0].show, GKHI_SHOW_HEX);
  EXPECT_EQ(event->fields[1].max, 4u);
  EXPECT_TRUE(event->fields[2].in_tail());
  EXPECT_EQ(event->fields[3].enumerators[1].value, -1);
  EXPECT_EQ(event->FieldIndex("data"), 2);
  EXPECT_EQ(event->FieldIndex("none"), -1);
}

struct Bad {
  const char *name;
  std::string json;
  const char *error;
};

class SchemaErrors : public ::testing::TestWithParam<Bad> {};

TEST_P(SchemaErrors, SayWhatWasFoundAndWanted) {
  Result<Event> event = ParseEventJson(GetParam().json);
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, SchemaErrors,
    ::testing::Values(
        Bad{"NoJson", "{\"id\":", "schema: not a JSON object"},
        Bad{"Array", "[]", "schema: not a JSON object"},
        Bad{"NoId", R"({"provider":"p"})", "schema: \"id\": wanted an integer, found nothing"},
        Bad{"ProviderIsNoName", R"({"id":1,"provider":"p\u001b[","name":"e"})",
            "schema: \"provider\": wanted a name: letters, digits and '_'"},
        Bad{"EventIsNoName", R"({"id":1,"provider":"p","name":"e: f=1\n"})",
            "schema: \"name\": wanted a name: letters, digits and '_'"},
        Bad{"IdTooLarge", R"({"id":65535})", "schema: \"id\": wanted 0 to 65534, found 65535"},
        Bad{"IdNegative", R"({"id":-1})", "schema: \"id\": wanted 0 to 65534, found -1"},
        Bad{"IdText", R"({"id":"1"})", "schema: \"id\": wanted an integer, found string"},
        Bad{"IdZero", R"({"id":0,"provider":"p","name":"e","layout":"0x1","fixed_words":0,"fields":[]})",
            "schema: \"id\": 0 is never given out"},
        Bad{"NameMissing", R"({"id":1,"provider":"p"})", "schema: \"name\": wanted a string, found nothing"},
        Bad{"Layout", R"({"id":1,"provider":"p","name":"e","layout":"12"})",
            "schema: \"layout\": wanted 0x and hexadecimal digits, found \"12\""},
        Bad{"Words", R"({"id":1,"provider":"p","name":"e","layout":"0x1","fixed_words":65536})",
            "schema: \"fixed_words\": wanted 0 to 65535, found 65536"},
        Bad{"NoFields", R"({"id":1,"provider":"p","name":"e","layout":"0x1","fixed_words":1})",
            "schema: \"fields\": wanted an array"},
        Bad{"FieldNoObject", WithFields("3"), "p:e: a field is not an object"},
        Bad{"FieldNoName", WithFields(R"({"type":"u","size":4,"offset":0})"),
            "p:e: field \"\": \"name\": wanted a name"},
        Bad{"Type", WithFields(R"({"name":"x","type":"z","size":4,"offset":0})"),
            "p:e: field \"x\": \"type\": wanted one of \"usopfegcb\", found \"z\""},
        Bad{"Size3", WithFields(R"({"name":"x","type":"u","size":3,"offset":0})"),
            "p:e: field \"x\": \"size\": 3 does not fit type \"u\""},
        Bad{"FloatOfTwo", WithFields(R"({"name":"x","type":"f","size":2,"offset":0})"),
            "p:e: field \"x\": \"size\": 2 does not fit type \"f\""},
        Bad{"OutsideFixed", WithFields(R"({"name":"x","type":"u","size":8,"offset":16})"),
            "p:e: field \"x\": \"offset\": 8 bytes at 16 are not in the fixed part of 16 bytes"},
        Bad{"Misaligned", WithFields(R"({"name":"x","type":"u","size":8,"offset":4})"),
            "p:e: field \"x\": \"offset\": 8 bytes at 4 are not in the fixed part of 16 bytes"},
        Bad{"ArrayTooLarge",
            WithFields(R"({"name":"x","type":"u","size":8,"form":1,"offset":0,"max":536870912})"),
            "p:e: field \"x\": \"offset\": 4294967296 bytes at 0 are not in the fixed part of 16 bytes"},
        Bad{"ScalarInTail", WithFields(R"({"name":"x","type":"u","size":8})"),
            "p:e: field \"x\": \"offset\": wanted a place in the fixed part, found none"},
        Bad{"StringInFixed", WithFields(R"({"name":"x","type":"c","size":1,"offset":0})"),
            "p:e: field \"x\": \"offset\": wanted 65535 (tail), found 0"},
        Bad{"NoCount", WithFields(R"({"name":"x","type":"u","size":4,"form":2,"max":4})"),
            "p:e: field \"x\": \"len_offset\": wanted the place of the count, found none"},
        Bad{"CountOutside", WithFields(R"({"name":"x","type":"b","size":1,"len_offset":16,"max":4})"),
            "p:e: field \"x\": \"len_offset\": 16 is not in the fixed part of 16 bytes"},
        Bad{"CountForScalar", WithFields(R"({"name":"x","type":"u","size":4,"offset":0,"len_offset":4})"),
            "p:e: field \"x\": \"len_offset\": wanted 65535 (none), found 4"},
        Bad{"Enum", WithFields(R"({"name":"x","type":"e","size":4,"offset":0,"enum":[["a"]]})"),
            "p:e: field \"x\": \"enum\": wanted [name, value], found [\"a\"]"},
        Bad{"AnotherLayout", WithFields(R"({"name":"x","type":"u","size":8,"offset":0})"),
            "p:e: layout 0x000000000000001f, but the fields here have 0x5e741f8fdd88bc93: this is not its "
            "schema"}),
    [](const auto &info) { return info.param.name; });

}  // namespace
}  // namespace gkhi::reader
