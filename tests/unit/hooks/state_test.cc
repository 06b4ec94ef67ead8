// SPDX-License-Identifier: MIT
// What each transition asks for, and the words that users see.
#include "fake_port.hpp"

namespace gkhi_test {

TEST(StateTest, EveryTransition) {
  struct Row {
    gkhi_state from, to;
    unsigned int moves, bare;
  };
  const unsigned int on_static = GKHI_ARM_KEYS | GKHI_TO_CALL;
  const unsigned int on_marker = GKHI_ARM_PADS | GKHI_ARM_KEYS | GKHI_TO_PAD;
  const unsigned int off = GKHI_DISARM_KEYS | GKHI_TO_OFF;
  const Row rows[] = {
      {GKHI_DISABLED, GKHI_DISABLED, off, GKHI_TO_OFF},
      {GKHI_DISABLED, GKHI_STATIC, on_static, GKHI_TO_OFF},
      {GKHI_DISABLED, GKHI_MARKER, on_marker, GKHI_ARM_PADS | GKHI_TO_PAD},
      {GKHI_STATIC, GKHI_DISABLED, off, GKHI_TO_OFF},
      {GKHI_STATIC, GKHI_STATIC, on_static, GKHI_TO_OFF},
      {GKHI_STATIC, GKHI_MARKER, on_marker, GKHI_ARM_PADS | GKHI_TO_PAD},
      {GKHI_MARKER, GKHI_DISABLED, off, GKHI_DISARM_PADS | GKHI_TO_OFF},
      {GKHI_MARKER, GKHI_STATIC, on_static, GKHI_DISARM_PADS | GKHI_TO_OFF},
      {GKHI_MARKER, GKHI_MARKER, on_marker, GKHI_ARM_PADS | GKHI_TO_PAD},
  };
  for (const Row &r : rows) {
    const std::string what = std::string(gkhi_state_name(r.from)) + " -> " + gkhi_state_name(r.to);
    EXPECT_EQ(gkhi_moves(r.from, r.to, false), r.moves) << what;
    EXPECT_EQ(gkhi_moves(r.from, r.to, true), r.bare) << what;
  }
}

// A pad in a cold block stays armed: whoever loaded the mode long ago may still run through it.
TEST(StateTest, NoTransitionDisarmsAColdPad) {
  for (int from = GKHI_DISABLED; from <= GKHI_MARKER; from++)
    for (int to = GKHI_DISABLED; to <= GKHI_MARKER; to++)
      EXPECT_FALSE(gkhi_moves(static_cast<gkhi_state>(from), static_cast<gkhi_state>(to), false) &
                   GKHI_DISARM_PADS);
}

TEST(StateTest, Names) {
  EXPECT_STREQ(gkhi_state_name(GKHI_DISABLED), "disabled");
  EXPECT_STREQ(gkhi_state_name(GKHI_STATIC), "static");
  EXPECT_STREQ(gkhi_state_name(GKHI_MARKER), "marker");
  EXPECT_STREQ(gkhi_state_name(static_cast<gkhi_state>(7)), "?");
}

TEST(StateTest, EveryReasonHasItsOwnWords) {
  std::set<std::string> texts;
  for (int why = GKHI_WHY_OK; why <= GKHI_WHY_NO_PROBE; why++)
    texts.insert(gkhi_why_text(static_cast<gkhi_why>(why)));
  EXPECT_EQ(texts.size(), GKHI_WHY_NO_PROBE + 1u);
  EXPECT_FALSE(texts.count("?"));
  EXPECT_STREQ(gkhi_why_text(GKHI_WHY_OK), "");
  EXPECT_STREQ(gkhi_why_text(GKHI_WHY_LOCKDOWN), "lockdown forbids kprobes");
  EXPECT_STREQ(gkhi_why_text(GKHI_WHY_SITE_CHANGED), "somebody else patched the site");
  EXPECT_STREQ(gkhi_why_text(static_cast<gkhi_why>(99)), "?");
}

}  // namespace gkhi_test
