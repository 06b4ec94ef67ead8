// SPDX-License-Identifier: MIT
// Selectors that ask the program itself: files, functions, modules; switched for real.
#include <gkhi/gkhi.h>
#include <gtest/gtest.h>

#include <string>

#include "gkhi_select.h"

namespace {

std::string Do(const char *batch) {
  char error[500] = "";
  const int err = gkhi_control(batch, error, sizeof(error));
  return err ? std::to_string(err) + " " + error : "";
}

}  // namespace

extern "C" {
__attribute__((noinline)) void select_first(uint64_t x) {
  gkhi_select_one(x);
}
__attribute__((noinline)) void select_second(uint64_t x) {
  gkhi_select_two(x);
}
}

namespace {

// Which hooks' sites jump, one letter each.
std::string On() {
  return std::string(gkhi_select_one_enabled() ? "1" : "-") + (gkhi_select_two_enabled() ? "2" : "-");
}

class Select : public testing::Test {
 protected:
  void TearDown() override { Do("select:* -"); }
};

TEST_F(Select, ByFunction) {
  EXPECT_EQ(Do("func select_first +static"), "");
  EXPECT_EQ(On(), "1-");
  EXPECT_EQ(Do("select:* func select_s* +static"), "");
  EXPECT_EQ(On(), "12");
  EXPECT_EQ(Do("select:* func nowhere -"),
            "-2 batch:1:15: error: none of these hooks has a site there\n"
            "    select:* func nowhere -\n"
            "                  ^~~~~~~");
  EXPECT_EQ(On(), "12");
}

TEST_F(Select, ByFileAndModule) {
  EXPECT_EQ(Do("select:* file select_test.cc +marker"), "");
  EXPECT_EQ(On(), "12");
  EXPECT_EQ(Do("select:* module *select_*test -"), "");
  EXPECT_EQ(On(), "--");
  EXPECT_EQ(Do("select:one module libc.so* +static").substr(0, 2), "-2");
}

// A bare marker has no switch of its own to ask, where it is a pad.
__attribute__((noinline)) void Third(uint64_t x) {
  gkhi_select_three(x);
}

TEST_F(Select, BareMarkers) {
  Third(1);
  EXPECT_EQ(Do("select:three func *Third* +marker"), "");
  EXPECT_EQ(Do("select:three func select_first +marker").substr(0, 2), "-2");
#ifdef GKHI_NO_PATCHING
  EXPECT_TRUE(gkhi_select_three_enabled());
#endif
}

TEST_F(Select, ByLine) {
  EXPECT_EQ(Do("file select_test.cc line 1-1000 func select_second +static"), "");
  EXPECT_EQ(On(), "-2");
}

}  // namespace
