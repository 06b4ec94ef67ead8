// SPDX-License-Identifier: MIT
// One meaning per spelling.
#include "scalar.hpp"

#include <gtest/gtest.h>

namespace genevent {
namespace {

TEST(ScalarTest, ParsesIntegers) {
  struct Case {
    const char *text;
    uint64_t magnitude;
    bool negative;
  };
  for (const Case &c :
       {Case{"0", 0, false}, Case{"16", 16, false}, Case{"-1", 1, true}, Case{"-0", 0, false},
        Case{"0x1F", 31, false}, Case{"0Xff", 255, false}, Case{"-0x10", 16, true},
        Case{"18446744073709551615", UINT64_MAX, false}, Case{"0xffffffffffffffff", UINT64_MAX, false}}) {
    Integer value;
    EXPECT_EQ(ParseInteger(c.text, &value), IntegerError::kNone) << c.text;
    EXPECT_EQ(value.magnitude, c.magnitude) << c.text;
    EXPECT_EQ(value.negative, c.negative) << c.text;
  }
}

TEST(ScalarTest, RefusesWhatOthersReadDifferently) {
  Integer value;
  for (const char *text : {"010", "-007", "00", "09"}) {
    EXPECT_EQ(ParseInteger(text, &value), IntegerError::kLeadingZero) << text;
  }
  for (const char *text :
       {"", "-", "0x", "+1", "1_000", "1e3", "1.0", "0b1", "0o7", "1 ", " 1", "x", "--1", "0xg"}) {
    EXPECT_EQ(ParseInteger(text, &value), IntegerError::kNotAnInteger) << text;
  }
  for (const char *text : {"18446744073709551616", "0x10000000000000000", "99999999999999999999999"}) {
    EXPECT_EQ(ParseInteger(text, &value), IntegerError::kTooLarge) << text;
  }
}

TEST(ScalarTest, KnowsReservedWords) {
  for (const char *text : {"no", "No", "NO", "yes", "on", "OFF", "true", "False", "null", "~"}) {
    EXPECT_TRUE(IsReservedWord(text)) << text;
  }
  for (const char *text : {"y", "n", "none", "node", "", "offset"})
    EXPECT_FALSE(IsReservedWord(text)) << text;
}

TEST(ScalarTest, KnowsNumbersOfOtherReaders) {
  for (const char *text :
       {"1", "010", "1.5", "1e3", "1_000", "12:30", ".5", ".inf", "-.INF", ".nan", "0b1", "0o17", "+3"}) {
    EXPECT_TRUE(LooksNumeric(text)) << text;
  }
  for (const char *text : {"", "a1", "1 MiB", "v1.2", "-", ".", "1st", "0xyz"})
    EXPECT_FALSE(LooksNumeric(text)) << text;
}

TEST(ScalarTest, PrintableIsShortAndClean) {
  EXPECT_EQ(Printable("a\nb\x7f"), "a?b?");
  EXPECT_EQ(Printable("\xff"), "?");
  EXPECT_EQ(Printable("é"), "é");
  EXPECT_LE(Printable(std::string(1000, 'x')).size(), 64u);
}

}  // namespace
}  // namespace genevent
