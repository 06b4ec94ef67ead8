// SPDX-License-Identifier: MIT
// Every type and format as text and as JSON, and whole lines.
#include <gtest/gtest.h>
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
