// SPDX-License-Identifier: MIT
// Operand locations: every register name, every form, every error, and evaluation.
#include "location.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

struct Parsed {
  gkhi_location_error error;
  size_t column;
  gkhi_location loc;
};

Parsed Parse(const std::string &text, unsigned size = 8) {
  Parsed p{};
  p.error = gkhi_location_parse(text.data(), text.size(), size, &p.loc, &p.column);
  return p;
}

struct Name {
  std::string name;
  int reg, size, shift;
};

std::vector<Name> AllGeneralNames() {
  std::vector<Name> all;
  const char *letters[] = {"a", "c", "d", "b"};
  for (int i = 0; i < 4; i++) {
    const std::string l = letters[i];
    all.insert(all.end(), {{"r" + l + "x", i, 8, 0},
                           {"e" + l + "x", i, 4, 0},
                           {l + "x", i, 2, 0},
                           {l + "l", i, 1, 0},
                           {l + "h", i, 1, 8}});
  }
  const char *words[] = {"sp", "bp", "si", "di"};
  for (int i = 0; i < 4; i++) {
    const std::string w = words[i];
    all.insert(all.end(),
               {{"r" + w, i + 4, 8, 0}, {"e" + w, i + 4, 4, 0}, {w, i + 4, 2, 0}, {w + "l", i + 4, 1, 0}});
  }
  for (int i = 8; i < 16; i++) {
    const std::string r = "r" + std::to_string(i);
    all.insert(
        all.end(),
        {{r, i, 8, 0}, {r + "d", i, 4, 0}, {r + "w", i, 2, 0}, {r + "b", i, 1, 0}, {r + "l", i, 1, 0}});
  }
  return all;
}

TEST(Location, EveryGeneralRegisterNameInBothDialects) {
  EXPECT_EQ(AllGeneralNames().size(), 76u);
  for (const Name &n : AllGeneralNames()) {
    for (const std::string prefix : {"%", ""}) {
      const Parsed p = Parse(prefix + n.name);
      ASSERT_EQ(p.error, GKHI_LOCATION_OK) << prefix << n.name;
      EXPECT_EQ(p.loc.kind, GKHI_LOCATION_REG);
      EXPECT_EQ(p.loc.reg, n.reg) << n.name;
      EXPECT_EQ(p.loc.reg_size, n.size) << n.name;
      EXPECT_EQ(p.loc.reg_shift, n.shift) << n.name;
      EXPECT_EQ(p.loc.n_steps, 0);
    }
  }
}

TEST(Location, OnlyWholeRegistersAreBases) {
  for (const Name &n : AllGeneralNames()) {
    const Parsed p = Parse("-24(%" + n.name + ")");
    if (n.size != 8) {
      EXPECT_EQ(p.error, GKHI_LOCATION_REGISTER) << n.name;
      EXPECT_EQ(p.column, 4u);
      continue;
    }
    ASSERT_EQ(p.error, GKHI_LOCATION_OK) << n.name;
    EXPECT_EQ(p.loc.kind, GKHI_LOCATION_MEM);
    EXPECT_EQ(p.loc.reg, n.reg);
    EXPECT_EQ(p.loc.value, -24);
  }
}

TEST(Location, VectorRegisters) {
  for (int i = 0; i < 32; i++) {
    const Parsed p = Parse("%xmm" + std::to_string(i));
    ASSERT_EQ(p.error, GKHI_LOCATION_OK) << i;
    EXPECT_EQ(p.loc.kind, GKHI_LOCATION_XMM);
    EXPECT_EQ(p.loc.reg, i);
  }
  for (const char *bad : {"%xmm32", "%xmm", "%xmm01", "%xmm1x", "%xmm123", "%ymm0", "%st", "%k1", "%mm0"})
    EXPECT_EQ(Parse(bad).error, GKHI_LOCATION_REGISTER) << bad;
}

TEST(Location, Immediates) {
  const struct {
    const char *text;
    int64_t value;
  } cases[] = {{"$0", 0},
               {"$42", 42},
               {"$-1", -1},
               {"42", 42},
               {"-7", -7},
               {"$0x7f", 127},
               {"$0XfF", 255},
               {"$-0x10", -16},
               {"$9223372036854775807", INT64_MAX},
               {"$-9223372036854775808", INT64_MIN},
               {"$18446744073709551615", -1},
               {"$0xffffffffffffffff", -1}};
  for (const auto &c : cases) {
    const Parsed p = Parse(c.text);
    ASSERT_EQ(p.error, GKHI_LOCATION_OK) << c.text;
    EXPECT_EQ(p.loc.kind, GKHI_LOCATION_IMM);
    EXPECT_EQ(p.loc.value, c.value) << c.text;
  }
}

TEST(Location, MemoryForms) {
  EXPECT_EQ(Parse("(%rsp)").loc.value, 0);
  EXPECT_EQ(Parse("(%rsp)").loc.reg, GKHI_REG_RSP);
  EXPECT_EQ(Parse("8(rax)").loc.value, 8);
  EXPECT_EQ(Parse("0x10(%rbp)").loc.value, 16);
  EXPECT_EQ(Parse("2147483647(%r15)").loc.value, INT32_MAX);
  EXPECT_EQ(Parse("-2147483648(%r15)").loc.value, INT32_MIN);
  const Parsed rip = Parse("4096(%rip)");
  EXPECT_EQ(rip.error, GKHI_LOCATION_OK);
  EXPECT_EQ(rip.loc.reg, GKHI_REG_RIP);
}

TEST(Location, StepsAndBits) {
  const Parsed p = Parse("%rbx>112>-8+40>0x10#3:5", 4);
  ASSERT_EQ(p.error, GKHI_LOCATION_OK);
  ASSERT_EQ(p.loc.n_steps, 4);
  const int32_t want[] = {112, -8, 40, 16};
  EXPECT_EQ(memcmp(p.loc.step, want, sizeof(want)), 0);
  EXPECT_EQ(p.loc.deref, 0b1011u);
  EXPECT_EQ(p.loc.shift, 3);
  EXPECT_EQ(p.loc.width, 5);
  EXPECT_EQ(Parse("8(%rsp)>0").loc.n_steps, 1);
  EXPECT_EQ(Parse("%eax#0:32", 4).error, GKHI_LOCATION_OK);
  EXPECT_EQ(Parse("%rax#0:64", 8).loc.width, 64);
  EXPECT_EQ(Parse("%rax>2147483647>-2147483648").error, GKHI_LOCATION_OK);
}

TEST(Location, EveryErrorWithItsColumn) {
  const struct {
    const char *text;
    unsigned size;
    gkhi_location_error error;
    size_t column;
  } cases[] = {
      {"", 8, GKHI_LOCATION_EMPTY, 0},
      {"%", 8, GKHI_LOCATION_REGISTER, 0},
      {"%raz", 8, GKHI_LOCATION_REGISTER, 0},
      {"%rip", 8, GKHI_LOCATION_REGISTER, 0},
      {"%RAX", 8, GKHI_LOCATION_REGISTER, 0},
      {"%rax2", 8, GKHI_LOCATION_REGISTER, 0},
      {"8(%xmm0)", 8, GKHI_LOCATION_REGISTER, 2},
      {"8()", 8, GKHI_LOCATION_REGISTER, 2},
      {"$", 8, GKHI_LOCATION_NUMBER, 1},
      {"$0x", 8, GKHI_LOCATION_NUMBER, 3},
      {"-", 8, GKHI_LOCATION_NUMBER, 1},
      {"%rax>", 8, GKHI_LOCATION_NUMBER, 5},
      {"%rax+%rbx", 8, GKHI_LOCATION_NUMBER, 5},
      {"$18446744073709551616", 8, GKHI_LOCATION_RANGE, 20},
      {"$-9223372036854775809", 8, GKHI_LOCATION_RANGE, 21},
      {"%rax>2147483648", 8, GKHI_LOCATION_RANGE, 5},
      {"2147483648(%rax)", 8, GKHI_LOCATION_RANGE, 0},
      {"counter(%rip)", 8, GKHI_LOCATION_SYMBOL, 0},
      {"$counter", 8, GKHI_LOCATION_SYMBOL, 1},
      {"OFFSET FLAT:counter", 8, GKHI_LOCATION_SYMBOL, 0},
      {"%rax ", 8, GKHI_LOCATION_SYNTAX, 4},
      {" %rax", 8, GKHI_LOCATION_SYNTAX, 0},
      {"8(%rax,%rcx,4)", 8, GKHI_LOCATION_SYNTAX, 6},
      {"8(%rax", 8, GKHI_LOCATION_SYNTAX, 6},
      {"$5(%rax)", 8, GKHI_LOCATION_SYNTAX, 2},
      {"*%rax", 8, GKHI_LOCATION_SYNTAX, 0},
      {"%fs:8", 8, GKHI_LOCATION_REGISTER, 0},
      {"%rax#1", 8, GKHI_LOCATION_SYNTAX, 6},
      {"%rax#1:2>3", 8, GKHI_LOCATION_SYNTAX, 8},
      {"%rax#1:2#1:2", 8, GKHI_LOCATION_SYNTAX, 8},
      {"%rax>0>0>0>0>0>0>0>0>0>0>0>0>0", 8, GKHI_LOCATION_LONG, 28},
      {"%rax#0:0", 8, GKHI_LOCATION_BITS, 4},
      {"%eax#30:3", 4, GKHI_LOCATION_BITS, 4},
      {"%rax#-1:3", 8, GKHI_LOCATION_BITS, 4},
      {"%rax#64:1", 8, GKHI_LOCATION_BITS, 4},
      {"%rax#1:9223372036854775807", 8, GKHI_LOCATION_BITS, 4},
      {"%rax", 0, GKHI_LOCATION_SIZE, 0},
      {"%rax", 3, GKHI_LOCATION_SIZE, 0},
      {"%rax", 16, GKHI_LOCATION_SIZE, 0},
  };
  for (const auto &c : cases) {
    const Parsed p = Parse(c.text, c.size);
    EXPECT_EQ(p.error, c.error) << '"' << c.text << "\": " << gkhi_location_error_text(p.error);
    EXPECT_EQ(p.column, c.column) << '"' << c.text << '"';
  }
}

TEST(Location, ErrorLeavesTheResultAlone) {
  gkhi_location loc;
  memset(&loc, 0x5a, sizeof(loc));
  gkhi_location before = loc;
  EXPECT_EQ(gkhi_location_parse("%rax>1>x", 8, 8, &loc, nullptr), GKHI_LOCATION_NUMBER);
  EXPECT_EQ(memcmp(&before, &loc, sizeof(loc)), 0);
}

TEST(Location, ErrorTexts) {
  const char *want[] = {"no error",
                        "the location is empty",
                        "no such register",
                        "a number is wanted here",
                        "the number is too large",
                        "a symbol, which only the linker knew",
                        "wanted '>', '+', '#' or the end here",
                        "more than 12 steps",
                        "the bit-field lies outside the value",
                        "the value's size is not 1, 2, 4 or 8"};
  for (int i = 0; i < GKHI_N_LOCATION_ERRORS; i++)
    EXPECT_STREQ(gkhi_location_error_text(static_cast<gkhi_location_error>(i)), want[i]);
  EXPECT_STREQ(gkhi_location_error_text(static_cast<gkhi_location_error>(99)), "unknown error");
}

TEST(Location, LengthIsObeyedWithoutNul) {
  const char text[] = {'%', 'r', 'a', 'x', '>', '8'};
  gkhi_location loc;
  size_t column;
  EXPECT_EQ(gkhi_location_parse(text, 4, 8, &loc, &column), GKHI_LOCATION_OK);
  EXPECT_EQ(loc.n_steps, 0);
  EXPECT_EQ(gkhi_location_parse(text, 6, 8, &loc, &column), GKHI_LOCATION_OK);
  EXPECT_EQ(loc.n_steps, 1);
}

TEST(Location, RandomBytesNeverCrashAndStopInside) {
  std::mt19937 rng(20);
  const std::string alphabet = "%$()>+-#:0123456789axrbspilxm ";
  for (int round = 0; round < 200000; round++) {
    std::string text;
    const size_t len = rng() % 20;
    for (size_t i = 0; i < len; i++)
      text += rng() % 16 ? alphabet[rng() % alphabet.size()] : static_cast<char>(rng());
    const Parsed p = Parse(text, 1u << rng() % 4);
    ASSERT_LE(p.column, text.size());
    ASSERT_LT(p.error, GKHI_N_LOCATION_ERRORS);
    if (p.error == GKHI_LOCATION_OK) {
      ASSERT_EQ(p.column, text.size()) << text;
    }
  }
}

// -- evaluation

int ReadPlain(void *dst, uint64_t src, size_t n, const gkhi_regs *) {
  if (src < 4096) return -EFAULT;
  memcpy(dst, reinterpret_cast<const void *>(src), n);
  return 0;
}

struct Evaluated {
  int rc;
  uint64_t value;
};

Evaluated Eval(const std::string &text, unsigned size, const gkhi_regs &regs) {
  Parsed p = Parse(text, size);
  EXPECT_EQ(p.error, GKHI_LOCATION_OK) << text;
  Evaluated e{};
  e.rc = gkhi_location_eval(&p.loc, size, &regs, ReadPlain, &e.value);
  return e;
}

TEST(LocationEval, RegistersOfEveryNameAndWidth) {
  gkhi_regs regs{};
  for (int i = 0; i < GKHI_N_REGS; i++) regs.r[i] = 0x8182838485868700u + i;
  for (const Name &n : AllGeneralNames()) {
    const uint64_t whole = regs.r[n.reg] >> n.shift;
    const uint64_t mask = n.size == 8 ? ~0ull : (1ull << 8 * n.size) - 1;
    EXPECT_EQ(Eval("%" + n.name, n.size, regs).value, whole & mask) << n.name;
  }
}

TEST(LocationEval, SizeOfTheValueGovernsNotTheNameOfTheRegister) {
  gkhi_regs regs{};
  regs.r[0] = 0x1122334455667788;
  EXPECT_EQ(Eval("%al", 4, regs).value, 0x55667788u);
  EXPECT_EQ(Eval("%rax", 2, regs).value, 0x7788u);
  EXPECT_EQ(Eval("$-1", 2, regs).value, 0xffffu);
  EXPECT_EQ(Eval("$-1", 8, regs).value, ~0ull);
}

TEST(LocationEval, ChainsLoadPointersThenTheValue) {
  struct Leaf {
    uint32_t a, b;
  } leaf = {0xaabbccdd, 0x11223344};
  struct Node {
    void *pad;
    Leaf *leaf;
    Node *next;
  } second = {nullptr, &leaf, nullptr}, first = {nullptr, nullptr, &second};
  gkhi_regs regs{};
  regs.r[3] = reinterpret_cast<uint64_t>(&first);
  EXPECT_EQ(Eval("%rbx>16>8>4", 4, regs).value, 0x11223344u);
  EXPECT_EQ(Eval("%rbx>16>8>4", 1, regs).value, 0x44u);
  EXPECT_EQ(Eval("%rbx>16>8+4", 8, regs).value, reinterpret_cast<uint64_t>(&leaf.b));
  EXPECT_EQ(Eval("%rbx>16>8>0#4:8", 4, regs).value, (0xaabbccddu >> 4) & 0xff);
  EXPECT_EQ(Eval("16(%rbx)>8>0", 4, regs).value, 0xaabbccddu);
  regs.r[GKHI_REG_RIP] = reinterpret_cast<uint64_t>(&leaf) - 100;
  EXPECT_EQ(Eval("104(%rip)", 4, regs).value, 0x11223344u);
}

TEST(LocationEval, UnreadableIsZeroAndSaidSo) {
  gkhi_regs regs{};
  regs.r[3] = 16;
  for (const char *text : {"%rbx>8", "%rbx>8>8", "8(%rbx)", "8(%rbx)>0", "$0>0"}) {
    const Evaluated e = Eval(text, 8, regs);
    EXPECT_EQ(e.rc, -EFAULT) << text;
    EXPECT_EQ(e.value, 0u) << text;
  }
}

TEST(LocationEval, VectorRegistersThatAreNotSavedAreRefused) {
  gkhi_regs regs{};
  regs.xmm[15] = 77;
  EXPECT_EQ(Eval("%xmm15", 8, regs).value, 77u);
  EXPECT_EQ(Eval("%xmm16", 8, regs).rc, -EINVAL);
}

}  // namespace
