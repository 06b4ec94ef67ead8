// SPDX-License-Identifier: MIT
// Every type and format as text and as JSON, and whole lines.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <gkhi/reader/printable.hpp>
#include <gkhi/reader/render.hpp>

#include <cmath>
#include <limits>

#include "packet_builder.hpp"

namespace gkhi::reader {
namespace {

std::string Render(const testing::TraceDir &dir, Body body, TimeBase base, bool json);

using testing::Packet;
using testing::TraceDir;

struct Both {
  std::string text;
  std::string json;
  bool operator==(const Both &) const = default;
};

void PrintTo(const Both &both, std::ostream *os) {
  *os << both.text << " / " << both.json;
}

Both Show(Field field, const std::string &bytes, uint32_t count = 1) {
  const Value value{&field, reinterpret_cast<const std::byte *>(bytes.data()), count};
  Both both;
  AppendValue(value, &both.text);
  AppendJsonValue(value, &both.json);
  return both;
}

template <typename T>
std::string Raw(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

Field Of(char type, uint8_t size, uint8_t show = GKHI_SHOW_DEC, uint8_t form = GKHI_FORM_SCALAR) {
  Field field;
  field.type = type;
  field.size = size;
  field.show = show;
  field.is_signed = type == 's';
  field.form = form;
  return field;
}

TEST(Value, Integers) {
  EXPECT_EQ(Show(Of('u', 1), Raw<uint8_t>(255)), (Both{"255", "255"}));
  EXPECT_EQ(Show(Of('u', 8), Raw(UINT64_MAX)), (Both{"18446744073709551615", "18446744073709551615"}));
  EXPECT_EQ(Show(Of('s', 1), Raw<int8_t>(-128)), (Both{"-128", "-128"}));
  EXPECT_EQ(Show(Of('s', 2), Raw<int16_t>(-2)), (Both{"-2", "-2"}));
  EXPECT_EQ(Show(Of('s', 4), Raw(INT32_MIN)), (Both{"-2147483648", "-2147483648"}));
  EXPECT_EQ(Show(Of('s', 8), Raw(INT64_MIN)), (Both{"-9223372036854775808", "-9223372036854775808"}));
  EXPECT_EQ(Show(Of('u', 4, GKHI_SHOW_HEX), Raw<uint32_t>(0xbeef)), (Both{"0xbeef", "48879"}));
  EXPECT_EQ(Show(Of('s', 4, GKHI_SHOW_HEX), Raw<int32_t>(-1)), (Both{"0xffffffff", "-1"}));
  EXPECT_EQ(Show(Of('u', 2, GKHI_SHOW_OCT), Raw<uint16_t>(0644)), (Both{"0644", "420"}));
  EXPECT_EQ(Show(Of('u', 2, GKHI_SHOW_OCT), Raw<uint16_t>(0)), (Both{"0", "0"}));
  EXPECT_EQ(Show(Of('u', 1, GKHI_SHOW_CHAR), "A"), (Both{"'A'", "65"}));
  EXPECT_EQ(Show(Of('u', 1, GKHI_SHOW_CHAR), "\n"), (Both{"'\\n'", "10"}));
  EXPECT_EQ(Show(Of('o', 1), Raw<uint8_t>(1)), (Both{"true", "true"}));
  EXPECT_EQ(Show(Of('o', 1), Raw<uint8_t>(0)), (Both{"false", "false"}));
  EXPECT_EQ(Show(Of('p', 8), Raw<uint64_t>(0x7fff0010)), (Both{"0x7fff0010", "\"0x7fff0010\""}));
}

TEST(Value, Floats) {
  EXPECT_EQ(Show(Of('f', 8), Raw(0.1)), (Both{"0.1", "0.1"}));
  EXPECT_EQ(Show(Of('f', 8), Raw(1e300)), (Both{"1e+300", "1e+300"}));
  EXPECT_EQ(Show(Of('f', 8), Raw(-0.0)), (Both{"-0", "-0.0"}));
  EXPECT_EQ(Show(Of('f', 8), Raw(3.0)), (Both{"3", "3.0"}));
  EXPECT_EQ(Show(Of('f', 4), Raw(0.1f)), (Both{"0.1", "0.1"}));
  EXPECT_EQ(Show(Of('f', 8), Raw(-std::numeric_limits<double>::infinity())), (Both{"-inf", "\"-inf\""}));
  EXPECT_EQ(Show(Of('f', 8), Raw(std::nan(""))), (Both{"nan", "\"nan\""}));
}

TEST(Value, EnumsAndFlags) {
  Field link = Of('e', 4);
  link.enumerators = {{"down", 0}, {"up", 1}, {"bad", -1}};
  EXPECT_EQ(Show(link, Raw<uint32_t>(1)), (Both{"up", "\"up\""}));
  EXPECT_EQ(Show(link, Raw<int32_t>(-1)), (Both{"bad", "\"bad\""}));
  EXPECT_EQ(Show(link, Raw<uint32_t>(7)), (Both{"7", "7"}));
  Field flags = Of('g', 4);
  flags.enumerators = {{"READ", 1}, {"WRITE", 2}, {"BOTH", 3}};
  EXPECT_EQ(Show(flags, Raw<uint32_t>(0)), (Both{"0", "\"0\""}));
  EXPECT_EQ(Show(flags, Raw<uint32_t>(2)), (Both{"WRITE", "\"WRITE\""}));
  EXPECT_EQ(Show(flags, Raw<uint32_t>(0x43)), (Both{"READ|WRITE|0x40", "\"READ|WRITE|0x40\""}));
  EXPECT_EQ(Show(flags, Raw<uint32_t>(0x40)), (Both{"0x40", "\"0x40\""}));
}

TEST(Value, Addresses) {
  EXPECT_EQ(Show(Of('u', 1, GKHI_SHOW_IPV4, GKHI_FORM_ARRAY), std::string("\x0a\0\0\x01", 4), 4),
            (Both{"10.0.0.1", "\"10.0.0.1\""}));
  EXPECT_EQ(Show(Of('u', 4, GKHI_SHOW_IPV4), std::string("\x7f\0\0\x01", 4)),
            (Both{"127.0.0.1", "\"127.0.0.1\""}));
  std::string six(16, '\0');
  six[0] = 0x20, six[1] = 0x01, six[15] = 0x01;
  EXPECT_EQ(Show(Of('u', 1, GKHI_SHOW_IPV6, GKHI_FORM_ARRAY), six, 16), (Both{"2001::1", "\"2001::1\""}));
  EXPECT_EQ(Show(Of('u', 1, GKHI_SHOW_MAC, GKHI_FORM_ARRAY), "\x02\x42\xac\x11\x10\x0f", 6),
            (Both{"02:42:ac:11:10:0f", "\"02:42:ac:11:10:0f\""}));
  EXPECT_EQ(Show(Of('u', 1, GKHI_SHOW_UUID, GKHI_FORM_ARRAY), std::string("0123456789abcdef"), 16),
            (Both{"30313233-3435-3637-3839-616263646566", "\"30313233-3435-3637-3839-616263646566\""}));
}

TEST(Value, StringsAndBytes) {
  EXPECT_EQ(Show(Of('c', 1), "eth0", 4), (Both{"eth0", "\"eth0\""}));
  EXPECT_EQ(Show(Of('c', 1), "", 0), (Both{"\"\"", "\"\""}));
  EXPECT_EQ(Show(Of('c', 1), "a b\"\\\n\x01", 7), (Both{R"("a b\"\\\n\x01")", R"("a b\"\\\u000a\u0001")"}));
  EXPECT_EQ(Show(Of('c', 1), "gr\xc3\xbc\xc3\x9f", 6),
            (Both{"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""}));
  EXPECT_EQ(Show(Of('c', 1), "a\xff\xc0\x80z", 5).json, "\"a\\ufffd\\ufffd\\ufffdz\"");
  EXPECT_EQ(Show(Of('b', 1), std::string("\0\x01\xff", 3), 3), (Both{"0001ff", "\"0001ff\""}));
  EXPECT_EQ(Show(Of('b', 1), "", 0), (Both{"", "\"\""}));
}

std::string Utf8Of(uint32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

TEST(Value, EveryCharacterIsShownAsItIsAndControlsEscaped) {
  for (uint32_t c = 1; c < 0x110000; c++) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const std::string bytes = Utf8Of(c);
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    std::string wanted = bytes;
    if (c == '"' || c == '\\') wanted = "\"\\" + bytes + "\"";
    if (c == ' ') wanted = "\" \"";
    if (control) {
      wanted = "\"";
      for (const char byte : bytes) wanted += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      if (c == '\n') wanted = "\"\\n";
      if (c == '\t') wanted = "\"\\t";
      wanted += '"';
    }
    const Both shown = Show(Of('c', 1), bytes, bytes.size());
    ASSERT_EQ(shown.text, wanted) << fmt::format("U+{:04X}", c);
    const std::string json = control                 ? fmt::format("\"\\u{:04x}\"", c)
                             : c == '"' || c == '\\' ? "\"\\" + bytes + "\""
                                                     : "\"" + bytes + "\"";
    ASSERT_EQ(shown.json, json) << fmt::format("U+{:04X}", c);
  }
}

// Overlong forms, surrogates, halves, and what is beyond U+10FFFF: a terminal may make anything of them.
TEST(Value, BytesThatAreNoCharacterAreEscaped) {
  for (const std::string bytes :
       {"\x80", "\x9b", "\xff", "\xc0\x9b", "\xc1\xbf", "\xc3", "\xe0\x82\x9b", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x82\x82\x9b", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x98"}) {
    std::string wanted, json;
    for (const char byte : bytes) {
      wanted += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      json += "\\ufffd";
    }
    EXPECT_EQ(Show(Of('c', 1), bytes, bytes.size()), (Both{"\"" + wanted + "\"", "\"" + json + "\""}));
    const std::string between = "a" + bytes + "z";
    EXPECT_EQ(Show(Of('c', 1), between, between.size()),
              (Both{"\"a" + wanted + "z\"", "\"a" + json + "z\""}));
    EXPECT_EQ(Printable(between + "\n"), "a" + wanted + "z\n");
    EXPECT_EQ(PrintableLine(between + "\n"), "a" + wanted + "z\\x0a");
  }
}

TEST(Value, Lists) {
  EXPECT_EQ(Show(Of('u', 2, GKHI_SHOW_DEC, GKHI_FORM_SEQUENCE), Raw<uint16_t>(1) + Raw<uint16_t>(2), 2),
            (Both{"[1,2]", "[1,2]"}));
  EXPECT_EQ(Show(Of('u', 2, GKHI_SHOW_HEX, GKHI_FORM_ARRAY), Raw<uint16_t>(16) + Raw<uint16_t>(2), 2),
            (Both{"[0x10,0x2]", "[16,2]"}));
  EXPECT_EQ(Show(Of('s', 4, GKHI_SHOW_DEC, GKHI_FORM_SEQUENCE), "", 0), (Both{"[]", "[]"}));
  EXPECT_EQ(Show(Of('u', 1, GKHI_SHOW_CHAR, GKHI_FORM_ARRAY), std::string("ab\0\0", 4), 4),
            (Both{"ab", "\"ab\""}));
}

TEST(Value, AFormatOfTheMessageWins) {
  const auto formatted = [](const Field &field, const std::string &bytes, uint8_t show, uint32_t count = 1) {
    std::string out;
    AppendFormatted({&field, reinterpret_cast<const std::byte *>(bytes.data()), count}, show, &out);
    return out;
  };
  Field link = Of('e', 4);
  link.enumerators = {{"up", 1}};
  EXPECT_EQ(formatted(link, Raw<uint32_t>(1), GKHI_SHOW_HEX), "0x1");
  EXPECT_EQ(formatted(link, Raw<uint32_t>(1), GKHI_SHOW_DEC), "1");
  EXPECT_EQ(formatted(Of('u', 2, GKHI_SHOW_HEX), Raw<uint16_t>(255), GKHI_SHOW_DEC), "255");
  EXPECT_EQ(formatted(Of('s', 2), Raw<int16_t>(-1), GKHI_SHOW_OCT), "0177777");
  EXPECT_EQ(formatted(Of('u', 1, GKHI_SHOW_DEC, GKHI_FORM_ARRAY), "\x10\x20", GKHI_SHOW_HEX, 2),
            "[0x10,0x20]");
}

TEST(Line, MessagesWithFormatsAndBraces) {
  std::string blocks = testing::TwoEvents();
  const std::string old = "x is {x}, y is {y}";
  blocks.replace(blocks.find(old), old.size(), "{{{x:x}}} {y:o} {x} {z} {");
  TraceDir dir(ComposeHead(testing::Head()) + blocks);
  dir.Write("main_0", Packet(0, 0, 0, 0, testing::Two(0, 31, 8)).Bytes());
  EXPECT_EQ(Render(dir, Body::kMessage, TimeBase::kMonotonic, false),
            "            demo-4711    [000] ..... 5.000000000: p:two: {0x1f} 010 31 {z} {\n");
}

std::string Render(const TraceDir &dir, Body body, TimeBase base, bool json) {
  Result<TraceSet> set = TraceSet::Open(dir.path());
  if (!set) return set.error();
  Merger merger(*set);
  Renderer renderer(body, base);
  std::string out;
  MergedRecord merged;
  while (merger.Next(&merged)) json ? renderer.AppendJson(merged, &out) : renderer.AppendLine(merged, &out);
  return out;
}

TEST(Line, FieldsMessageAndJson) {
  TraceDir dir;
  Packet packet(0, 0, 4000000000, 4000000001,
                testing::Two(4000000000, 7, 9) + testing::Text(4000000001, 3, "a b"));
  packet.header.cpu_id = 2;
  dir.Write("main_2", packet.Bytes());
  // 4e9 ticks of 2 GHz are 2 s; CLOCK_MONOTONIC was 5 s at tick 0.
  EXPECT_EQ(Render(dir, Body::kFields, TimeBase::kMonotonic, false),
            "            demo-4711    [002] ..... 7.000000000: p:two: x=7 y=9\n"
            "            demo-4711    [002] ..... 7.000000000: p:text: n=3 s=\"a b\"\n");
  EXPECT_EQ(Render(dir, Body::kMessage, TimeBase::kWall, false),
            "            demo-4711    [002] ..... 1700000002.000000000: p:two: x is 7, y is 9\n"
            "            demo-4711    [002] ..... 1700000002.000000000: p:text: n=3 s=\"a b\"\n");
  EXPECT_EQ(Render(dir, Body::kMessage, TimeBase::kMonotonic, true),
            "{\"time\":1700000002000000000,\"ticks\":4000000000,\"provider\":\"p\",\"event\":\"two\","
            "\"comm\":\"demo\","
            "\"pid\":4711,\"cpu\":2,\"fields\":{\"x\":7,\"y\":9},\"message\":\"x is 7, y is 9\"}\n"
            "{\"time\":1700000002000000000,\"ticks\":4000000001,\"provider\":\"p\",\"event\":\"text\","
            "\"comm\":\"demo\","
            "\"pid\":4711,\"cpu\":2,\"fields\":{\"n\":3,\"s\":\"a b\"}}\n");
}

// The name of a program and the words of a provider are not ours either.
TEST(Line, NothingSteersTheTerminal) {
  TraceHead head = testing::Head();
  head.env.comm = "a\x1b]0;b\x07\n\xc2\x9b\x9b\xc3\xbc";
  std::string blocks = testing::TwoEvents();
  const std::string old = "x is {x}, y is {y}";
  blocks.replace(blocks.find(old), old.size(), "\\u001b[31m{x}\\n\\u009b{y}\\u0007");
  TraceDir dir(ComposeHead(head) + blocks);
  dir.Write("main_0",
            Packet(0, 0, 0, 0, testing::Two(0, 1, 2) + testing::Text(0, 3, "\x1b[2J\xc2\x9b")).Bytes());
  const std::string task = "a_]0;b__\\xc2\\x9b\xef\xbf\xbd\xc3\xbc-4711    [000] ..... 5.000000000: ";
  EXPECT_EQ(
      Render(dir, Body::kMessage, TimeBase::kMonotonic, false),
      task + "p:two: \\x1b[31m1\\x0a\\xc2\\x9b2\\x07\n" + task + "p:text: n=3 s=\"\\x1b[2J\\xc2\\x9b\"\n");
}

TEST(Line, AFallbackStreamDoesNotKnowItsCpu) {
  TraceDir dir;
  Packet packet(0, 0, 0, 0, testing::Two(0, 1, 2));
  packet.header.cpu_id = GKHI_CPU_NONE;
  dir.Write("main_none", packet.Bytes());
  EXPECT_EQ(Render(dir, Body::kFields, TimeBase::kMonotonic, false),
            "            demo-4711    [---] ..... 5.000000000: p:two: x=1 y=2\n");
}

}  // namespace
}  // namespace gkhi::reader
