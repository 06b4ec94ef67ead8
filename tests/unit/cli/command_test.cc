// SPDX-License-Identifier: MIT
// Parsing, help and completion from the table of verbs; texts that other parts depend on.
#include <gtest/gtest.h>

#include <clocale>

#include "batch_text.hpp"
#include "command.hpp"
#include "hook_view.hpp"
#include "launch.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace gkhi::cli {
namespace {

const Command &Sample() {
  static const Command command = {
      "sample",
      "does nothing",
      "[ARG]...",
      "Does nothing.",
      {{'o', "output", "DIR", "where", "<dir>"},
       {'v', "verbose", nullptr, "more"},
       {0, "limit", "N", "how many", "1 10"}},
      {{"gkhi sample -v", "nothing, loudly"}},
      [](const Args &) { return 0; },
  };
  return command;
}

std::string ParseError(const std::vector<std::string> &words) {
  Result<Args> args = ParseArgs(Sample(), words);
  return args ? "no error" : args.error();
}

TEST(Args, TakesLettersNamesAndOperands) {
  Result<Args> args = ParseArgs(Sample(), {"-v", "x", "--output=a", "-o", "b", "--limit", "3", "--", "-y"});
  ASSERT_TRUE(args) << args.error();
  EXPECT_TRUE(args->Has("verbose"));
  EXPECT_EQ(args->All("output"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(args->Get("output"), "b");
  EXPECT_EQ(args->Get("limit"), "3");
  EXPECT_FALSE(args->Has("help"));
  EXPECT_EQ(args->operands(), (std::vector<std::string>{"x", "-y"}));
}

TEST(Args, StopsAtTheFirstOperandWhereTheRestIsAnotherCommand) {
  Command command = Sample();
  command.stop_at_operand = true;
  Result<Args> args = ParseArgs(command, {"-v", "ls", "-l", "--output"});
  ASSERT_TRUE(args);
  EXPECT_EQ(args->operands(), (std::vector<std::string>{"ls", "-l", "--output"}));
}

TEST(Args, ErrorsSayWhatWasFoundAndWanted) {
  EXPECT_EQ(ParseError({"--ouput", "x"}),
            "gkhi sample: unknown option '--ouput'; did you mean '--output'? see 'gkhi help sample'");
  EXPECT_EQ(ParseError({"--zzzzz"}), "gkhi sample: unknown option '--zzzzz'; see 'gkhi help sample'");
  EXPECT_EQ(ParseError({"-x"}), "gkhi sample: unknown option '-x'; see 'gkhi help sample'");
  EXPECT_EQ(ParseError({"-o"}), "gkhi sample: option '-o' wants an argument: DIR");
  EXPECT_EQ(ParseError({"--limit"}), "gkhi sample: option '--limit' wants an argument: N");
  EXPECT_EQ(ParseError({"--verbose=3"}),
            "gkhi sample: option '--verbose' takes no argument, found '--verbose=3'");
}

TEST(Help, IsMadeFromTheTable) {
  EXPECT_EQ(HelpText(Sample()),
            "Usage: gkhi sample [OPTION]... [ARG]...\n\n"
            "Does nothing.\n\nOptions:\n"
            "  -o, --output DIR        where\n"
            "  -v, --verbose           more\n"
            "      --limit N           how many\n"
            "  -h, --help              show this text\n"
            "\nExamples:\n  gkhi sample -v\n      nothing, loudly\n");
}

TEST(Help, EveryVerbTeachesWithExamples) {
  for (const Command *command : Commands()) {
    EXPECT_GE(command->examples.size(), 2u) << command->verb;
    for (const Option &option : command->options) {
      EXPECT_NE(HelpText(*command).find(std::string("--") + option.name), std::string::npos);
      EXPECT_NE(BashCompletion().find(std::string("--") + option.name), std::string::npos);
    }
    EXPECT_NE(OverviewText().find(std::string("  ") + command->verb), std::string::npos);
  }
}

TEST(Batch, EveryStatementAboutHooksGetsTheChannel) {
  EXPECT_EQ(RouteTo("a:*=static", "rec"), "a:*=static channel=rec");
  EXPECT_EQ(RouteTo("a=static;b +marker", "rec"), "a=static channel=rec;b +marker channel=rec");
  EXPECT_EQ(RouteTo("a=static channel=mine", "rec"), "a=static channel=mine");
  EXPECT_EQ(RouteTo("channel x mode=discard; a=static", "rec"),
            "channel x mode=discard; a=static channel=rec");
  EXPECT_EQ(RouteTo("a=static # why; not\nb=marker", "rec"),
            "a=static  channel=rec # why; not\nb=marker channel=rec");
  EXPECT_EQ(RouteTo("#a;b\nc=on;#d\ne=on", "rec"), "#a;b\nc=on channel=rec;#d\ne=on channel=rec");
  EXPECT_EQ(RouteTo("channel x target=/t/a#1; b=on", "rec"), "channel x target=/t/a#1; b=on channel=rec");
  EXPECT_EQ(RouteTo("a", "rec"), "a +on channel=rec");
  EXPECT_EQ(RouteTo("a:* file x.c line 1-9 # all", "rec"), "a:* file x.c line 1-9  +on channel=rec # all");
  EXPECT_EQ(RouteTo("a:* -; b +default", "rec"), "a:* - channel=rec; b +default channel=rec");
  EXPECT_EQ(RouteTo("", "rec"), "");
  EXPECT_EQ(RouteTo(" ; ;", "rec"), " ; ;");
}

gkhi_control_hook Hook(const char *name, gkhi_state state, const char *channels) {
  gkhi_control_hook hook{};
  std::snprintf(hook.name, sizeof(hook.name), "%s", name);
  std::snprintf(hook.channels, sizeof(hook.channels), "%s", channels);
  hook.state = state;
  return hook;
}

TEST(Batch, TakesBackWhatItDid) {
  const std::vector<gkhi_control_hook> before = {Hook("a:on", GKHI_MARKER, "main,log"),
                                                 Hook("a:off", GKHI_DISABLED, ""),
                                                 Hook("a:other", GKHI_STATIC, "main")};
  const std::vector<gkhi_control_hook> now = {
      Hook("a:on", GKHI_STATIC, "rec"), Hook("a:off", GKHI_STATIC, "rec"),
      Hook("a:other", GKHI_STATIC, "main"), Hook("a:new", GKHI_STATIC, "main,rec"),
      Hook("a:rec2", GKHI_STATIC, "record")};
  EXPECT_EQ(TakeBack(before, now, "rec"),
            "a:on +marker channel=main,log; a:off +disabled; a:new +disabled; ");
  EXPECT_EQ(TakeBack(before, before, "rec"), "");
}

const std::vector<Column> kColumns = {
    {"NAME", "n", false, false, true}, {"SIZE", "s", true, true}, {"NOTE", "x"}};

std::string Text(TableStyle style, std::vector<size_t> columns = {0, 1}) {
  Table table("things", kColumns, columns, style);
  const int parent = table.Add({"parent", "", ""});
  table.Add({"child", "12", "a b"}, style.raw ? -1 : parent);
  table.Add({"other \"x\"", "3", ""}, style.raw ? -1 : parent);
  return table.Text();
}

TEST(Table, TextRawAndJson) {
  EXPECT_EQ(Text({false, true, false}), "parent \nchild 12\nother\\x20\"x\" 3\n");
  EXPECT_NE(Text({}).find("-child"), std::string::npos);
  EXPECT_EQ(
      Text({true, false, true}),
      "{\n   \"things\": [\n      {\n         \"name\": \"parent\",\n         \"size\": null,\n         "
      "\"children\": [\n"
      "            {\n               \"name\": \"child\",\n               \"size\": 12\n            },{\n"
      "               \"name\": \"other \\\"x\\\"\",\n               \"size\": 3\n            }\n         "
      "]\n      }\n   ]\n}\n");
}

TEST(Table, NothingSteersTheTerminal) {
  const std::string cell = "\x1b[2J\x7f\xc2\x9b\x9b\xc3\xbc\\";
  const auto text = [&](TableStyle style) {
    Table table("t", kColumns, {0}, style);
    table.Add({cell, "", ""});
    return table.Text();
  };
  EXPECT_EQ(text({true, false, true}),
            "{\n   \"t\": [\n      {\n         \"name\": "
            "\"\\u001b[2J\\u007f\\u009b\\ufffd\xc3\xbc\\\\\"\n      }\n   ]\n}\n");
  for (const char *locale : {"C", "C.UTF-8"}) {
    setlocale(LC_CTYPE, locale);
    const std::string letter = locale[1] != 0 ? "\xc3\xbc" : "\\xc3\\xbc";
    EXPECT_EQ(text({false, false, false}), "\\x1b[2J\\x7f\\xc2\\x9b\\x9b" + letter + "\\\n") << locale;
    EXPECT_EQ(text({false, true, false}), "\\x1b[2J\\x7f\\xc2\\x9b\\x9b\\xc3\\xbc\\x5c\n") << locale;
    setlocale(LC_CTYPE, "C");
  }
}

TEST(Table, ColumnsAreChosenByName) {
  EXPECT_EQ(*SelectColumns(kColumns, "note,NAME"), (std::vector<size_t>{2, 0}));
  EXPECT_EQ(*SelectColumns(kColumns, "", {"SIZE"}), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(SelectColumns(kColumns, "NAME,SIZEX").error(),
            "unknown column 'SIZEX'; did you mean 'SIZE'? wanted some of NAME,SIZE,NOTE");
}

TEST(Pid, IsANumber) {
  EXPECT_EQ(*ParsePid("4711"), 4711);
  EXPECT_EQ(ParsePid("12ab").error(), "found '12ab', wanted a process id");
  EXPECT_EQ(ParsePid("-3").error(), "found '-3', wanted a process id");
  EXPECT_EQ(ParsePid("").error(), "found '', wanted a process id");
}

TEST(Preload, OnlyForProgramsThatDoNotBringTheRuntime) {
  EXPECT_EQ(PreloadFor(TICKER), "");
  EXPECT_EQ(PreloadFor(TICKER_STATIC), "");
  EXPECT_NE(PreloadFor("sh").find("/libgkhi.so.0"), std::string::npos);
  EXPECT_NE(PreloadFor("/nonexistent").find("/libgkhi.so.0"), std::string::npos);
}

TEST(Totals, AreOneSentence) {
  reader::WriterTotals totals;
  EXPECT_EQ(TotalsText(totals, {1, false}), "0 events from 1 process, no event lost, 0 bytes");
  totals = {1, 0, 0, 1, 2048};
  EXPECT_EQ(TotalsText(totals, {2, false}), "1 event from 2 processes, no event lost, 2.0 KiB");
  totals = {10, 3, 4, 1, 5u << 20};
  EXPECT_EQ(TotalsText(totals, {1, false}),
            "10 events from 1 process, LOST 7 events: 3 discarded by the producer, 4 overwritten before the "
            "snapshot, "
            "5.0 MiB");
  EXPECT_EQ(TotalsText(totals, {0, true}).substr(0, 26), "10 events from the kernel,");
  EXPECT_EQ(SourcesText({2, true}), "the kernel and 2 processes");
}

}  // namespace
}  // namespace gkhi::cli
