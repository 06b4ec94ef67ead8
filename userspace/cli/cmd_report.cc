// SPDX-License-Identifier: MIT
// gkhi report: a trace as text, JSON, or counts.
#include <fmt/format.h>
#include <fnmatch.h>

#include <cstdio>
#include <gkhi/reader/render.hpp>
#include <map>

#include "command.hpp"
#include "table.hpp"

namespace gkhi::cli {
namespace {

using reader::MergedRecord;

constexpr size_t kFlush = 1 << 16;
constexpr const char *kDefaultDir = "gkhi.trace";

const std::vector<Column> kStatColumns = {
    {"EVENT", "provider:event"},
    {"EVENTS", "records of it", true, true},
    {"RATE", "records per second between its first and its last", true, true},
    {"FIRST", "seconds of CLOCK_MONOTONIC", true, true},
    {"LAST", "seconds of CLOCK_MONOTONIC", true, true},
};

// A set of globs; empty: everything. Asked once per event type and remembered.
class Filter {
 public:
  explicit Filter(std::vector<std::string> globs) : globs_(std::move(globs)) {}

  bool Wants(const reader::Event *event) {
    if (globs_.empty()) return true;
    auto [it, added] = known_.try_emplace(event, false);
    if (added) it->second = Matches(event->full_name);
    return it->second;
  }

 private:
  bool Matches(const std::string &name) const {
    for (const std::string &glob : globs_) {
      const std::string full = glob.find(':') == glob.npos ? glob + ":*" : glob;
      if (fnmatch(full.c_str(), name.c_str(), 0) == 0) return true;
    }
    return false;
  }

  std::vector<std::string> globs_;
  std::map<const reader::Event *, bool> known_;
};

struct Count {
  uint64_t events = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// Everything that goes to stdout passes here in large pieces.
bool Flush(std::string *out, size_t at_least) {
  if (out->size() < at_least) return true;
  const bool good = fwrite(out->data(), 1, out->size(), stdout) == out->size();
  out->clear();
  return good;
}

void PrintProblems(const reader::TraceSet &set, const reader::Merger *merger) {
  for (const std::string &text : set.problems()) Fail("report", text);
  for (const auto &trace : set.traces()) {
    for (const std::string &text : trace->metadata().problems()) {
      Fail("report", fmt::format("{}/metadata: {}", trace->dir(), text));
    }
  }
  if (merger == nullptr) return;
  for (const std::string &text : merger->problems()) Fail("report", text);
}

std::string Summary(uint64_t printed, uint64_t events, const reader::Loss &loss) {
  std::string text = fmt::format("{} event{}", events, events == 1 ? "" : "s");
  if (printed != events) text += fmt::format(", {} shown", printed);
  return text + ", " + reader::LossText(loss);
}

bool PrintRecords(const Args &args, reader::Merger *merger, uint64_t *printed) {
  const bool json = args.Has("json");
  Filter filter(args.All("event"));
  reader::Renderer renderer(args.Has("message") ? reader::Body::kMessage : reader::Body::kFields,
                            args.Get("time").value_or("monotonic") == "wall" ? reader::TimeBase::kWall
                                                                             : reader::TimeBase::kMonotonic);
  std::string out = json ? "" : "# tracer: gkhi\n";
  MergedRecord merged;
  while (merger->Next(&merged)) {
    if (!filter.Wants(merged.record->event)) continue;
    ++*printed;
    if (json) {
      renderer.AppendJson(merged, &out);
    } else {
      renderer.AppendLine(merged, &out);
    }
    if (!Flush(&out, kFlush)) return false;
  }
  return Flush(&out, 1) && fflush(stdout) == 0;
}

std::string Seconds(int64_t ns) {
  return fmt::format("{}.{:09}", ns / 1000000000, ns % 1000000000);
}

std::string Rate(const Count &count) {
  if (count.last <= count.first) return "";
  return fmt::format(
      "{:.1f}", 1e9 * static_cast<double>(count.events - 1) / static_cast<double>(count.last - count.first));
}

std::string StatTable(const Args &args, reader::Merger *merger, uint64_t *printed) {
  Filter filter(args.All("event"));
  std::map<std::string, Count> counts;
  std::map<const reader::Event *, Count *> by_event;
  MergedRecord merged;
  while (merger->Next(&merged)) {
    const reader::Event *event = merged.record->event;
    if (!filter.Wants(event)) continue;
    ++*printed;
    Count *&count = by_event[event];
    if (count == nullptr) count = &counts[event->full_name];
    const int64_t now = merged.trace->metadata().head().clock.ToMonotonic(merged.record->ticks);
    if (count->events++ == 0) count->first = now;
    count->last = now;
  }
  Table table("events", kStatColumns, {0, 1, 2, 3, 4}, {args.Has("json"), false, true});
  for (const auto &[name, count] : counts) {
    table.Add(
        {name, fmt::format("{}", count.events), Rate(count), Seconds(count.first), Seconds(count.last)});
  }
  return table.Text();
}

int Run(const Args &args) {
  if (args.operands().size() > 1) {
    fmt::print(stderr, "gkhi report: found {} operands, wanted one trace directory\n",
               args.operands().size());
    return kExitUsage;
  }
  const std::string time = args.Get("time").value_or("monotonic");
  if (time != "monotonic" && time != "wall") {
    fmt::print(stderr, "gkhi report: --time: found '{}', wanted monotonic or wall\n", time);
    return kExitUsage;
  }
  const std::string dir = args.operands().empty() ? kDefaultDir : args.operands()[0];
  Result<reader::TraceSet> set = reader::TraceSet::Open(dir);
  if (!set) return Fail("report", set.error());
  reader::Merger merger(*set);
  uint64_t printed = 0;
  if (args.Has("stat")) {
    const std::string table = StatTable(args, &merger, &printed);
    if (fwrite(table.data(), 1, table.size(), stdout) != table.size()) return Fail("report", "cannot write");
  } else if (!PrintRecords(args, &merger, &printed)) {
    return Fail("report", "cannot write");
  }
  fflush(stdout);
  PrintProblems(*set, &merger);
  const reader::Loss loss = merger.loss();
  // JSON stays JSON: the line goes beside it.
  fmt::print(args.Has("json") ? stderr : stdout, "# {}\n", Summary(printed, merger.events(), loss));
  if (!set->problems().empty()) return kExitFailure;
  return args.Has("strict") && loss.any() ? kExitLoss : kExitOk;
}

}  // namespace

const Command &ReportCommand() {
  static const Command command = {
      "report",
      "print a trace: text, JSON, or counts",
      "[DIR]",
      "Prints the trace in DIR (gkhi.trace when there is none), all processes and cpus merged by time, one "
      "line an\n"
      "event, as ftrace does:\n\n"
      "  comm-PID [CPU] flags SECONDS: provider:event: field=value ...\n\n"
      "The last line says how many events there were and which are missing: discarded because a buffer was "
      "full,\n"
      "overwritten before a snapshot, or unreadable. With --json it goes to stderr.",
      {
          {'e', "event", "GLOB", "only these events, provider:event; may be repeated"},
          {'m', "message", nullptr, "the message the provider wrote for the event, instead of its fields"},
          {'f', "fields", nullptr, "every field as name=value (the default)"},
          {'j', "json", nullptr, "one JSON object a line"},
          {'s', "stat", nullptr, "count events instead of printing them"},
          {'t', "time", "CLOCK", "monotonic (the default) or wall", "monotonic wall"},
          {0, "strict", nullptr, "exit with 3 when anything is missing"},
      },
      {
          {"gkhi report", "the trace that 'gkhi record' just wrote"},
          {"gkhi report -e 'sqlite:*' --message traces/today", "one provider, in its own words"},
          {"gkhi report --stat --strict && echo complete", "count, and be sure that nothing is missing"},
          {"gkhi report --json | jq 'select(.fields.len > 1000)'", "ask questions"},
      },
      Run,
      false,
      "<dir>",
  };
  return command;
}

}  // namespace gkhi::cli
