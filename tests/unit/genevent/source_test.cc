// SPDX-License-Identifier: MIT
// Places in a file, and how a diagnostic shows them.
#include "source.hpp"

#include <gtest/gtest.h>

namespace genevent {
namespace {

TEST(SourceTest, LinesAreCountedFromOne) {
  const Source source("f", "one\ntwo\n\nfour");
  EXPECT_EQ(source.Line(1), "one");
  EXPECT_EQ(source.Line(3), "");
  EXPECT_EQ(source.Line(4), "four");
  EXPECT_EQ(source.Line(5), "");
  EXPECT_EQ(source.Line(0), "");
}

TEST(SourceTest, CrlfBecomesLf) {
  const Source source("f", "one\r\ntwo\rx\r\n");
  EXPECT_EQ(source.text(), "one\ntwo\rx\n");
  EXPECT_EQ(source.Offset({2, 1}), 4u);
  EXPECT_EQ(source.Offset({9, 1}), source.text().size());
}

TEST(SourceTest, RendersLineCaretAndHint) {
  const Source source("f.yaml", "a: b\n");
  EXPECT_EQ(Render(source, Diagnostic{.at = {1, 4}, .message = "bad", .hint = "write c"}),
            "f.yaml:1:4: error: bad\n    1 | a: b\n      |    ^\n      = hint: write c\n");
}

TEST(SourceTest, RendersWithoutAPlace) {
  const Source source("f.yaml", "");
  EXPECT_EQ(Render(source, Diagnostic{.severity = Severity::kWarning, .message = "odd"}),
            "f.yaml: warning: odd\n");
}

TEST(SourceTest, TheCaretStandsUnderTheCharacter) {
  const Source tabs("f", "\tx\ty");
  EXPECT_EQ(Render(tabs, Diagnostic{.at = {1, 4}, .message = "m"}),
            "f:1:4: error: m\n    1 | \tx\ty\n      | \t \t^\n");
  const Source wide("f", "äöü=x");
  EXPECT_EQ(Render(wide, Diagnostic{.at = {1, 8}, .message = "m"}),
            "f:1:8: error: m\n    1 | äöü=x\n      |     ^\n");
  const Source broken("f", "\xff\x01z");
  EXPECT_EQ(Render(broken, Diagnostic{.at = {1, 3}, .message = "m"}),
            "f:1:3: error: m\n    1 | ??z\n      |   ^\n");
}

TEST(SourceTest, LongLinesAreCutRoundTheCaret) {
  const Source source("f", std::string(500, 'a') + "X" + std::string(500, 'b'));
  const std::string text = Render(source, Diagnostic{.at = {1, 501}, .message = "m"});
  EXPECT_LT(text.size(), 300u);
  const size_t line = text.find("| ..."), caret = text.find("| ", line + 1);
  EXPECT_EQ(text.find('X') - line, text.find('^') - caret);
}

TEST(Utf8Test, AcceptsWhatIsValidOnly) {
  EXPECT_EQ(Utf8Length("a", 0), 1u);
  EXPECT_EQ(Utf8Length("\xc3\xa9", 0), 2u);
  EXPECT_EQ(Utf8Length("\xe2\x86\x92", 0), 3u);
  EXPECT_EQ(Utf8Length("\xf0\x9f\x98\x80", 0), 4u);
  for (const char *bad :
       {"\x80", "\xc0\xaf", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xff"}) {
    EXPECT_EQ(Utf8Length(bad, 0), 0u) << bad;
  }
  EXPECT_EQ(Utf8Length("", 0), 0u);
}

TEST(NearestTest, FindsTyposAndNothingElse) {
  const std::vector<std::string> names = {"stable", "evolving", "private"};
  EXPECT_EQ(Nearest("stabel", names), "stable");
  EXPECT_EQ(Nearest("privat", names), "private");
  EXPECT_EQ(Nearest("firm", names), "");
  EXPECT_EQ(Nearest("", names), "");
  EXPECT_EQ(Nearest(std::string(1000, 'x'), names), "");
}

}  // namespace
}  // namespace genevent
