// SPDX-License-Identifier: MIT
// gkhi stat: counts and rates of hooks and channels, once or again and again.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "command.hpp"
#include "hook_view.hpp"
#include "table.hpp"

namespace gkhi::cli {
namespace {

using Clock = std::chrono::steady_clock;

const std::vector<Column> kHookColumns = {
    {"HOOK", "provider:event", false, false, true},
    {"HITS", "events so far", true, true},
    {"RATE", "events per second since the time before", true, true},
    {"LOST", "events that could not be written", true, true},
    {"FAULTS", "operands of a marker that could not be read: recorded as 0 or (fault)", true, true},
};
const std::vector<Column> kChannelColumns = {
    {"CHANNEL", "name", false, false, true},
    {"BACKEND", "ring, printk"},
    {"MODE", "overwrite or discard"},
    {"EVENTS", "events so far", true, true},
    {"RATE", "events per second since the time before", true, true},
    {"LOST", "events that could not be written", true, true},
    {"WHY", "reasons of the loss"},
};

// Counts of the time before, by process and name.
class Rates {
 public:
  // Per second since the last call with this key; "" the first time.
  std::string Of(const std::string &key, uint64_t count, Clock::time_point now) {
    auto [it, added] = last_.try_emplace(key, count, now);
    if (added) return "";
    const double seconds = std::chrono::duration<double>(now - it->second.second).count();
    const double rate = count >= it->second.first && seconds > 0
                            ? static_cast<double>(count - it->second.first) / seconds
                            : 0;
    it->second = {count, now};
    return fmt::format("{:.0f}", rate);
  }

 private:
  std::map<std::string, std::pair<uint64_t, Clock::time_point>> last_;
};

void PrintOnce(std::vector<Process> *processes, bool json, Rates *rates) {
  std::vector<size_t> hook_columns = {0, 1, 2, 3, 4};
  std::vector<size_t> channel_columns = {0, 1, 2, 3, 4, 5, 6};
  Table hooks("hooks", kHookColumns, hook_columns, {json, false, true});
  Table channels("channels", kChannelColumns, channel_columns, {json, false, true});
  for (Process &process : *processes) {
    Result<ProcessView> view = ViewProcess(&process);
    if (!view) {
      Fail("stat", view.error());
      continue;
    }
    const Clock::time_point now = Clock::now();
    const std::string name = fmt::format("{} ({})", view->comm, view->pid);
    const int hook_parent = hooks.Add({name, "", "", "", ""});
    const int channel_parent = channels.Add({name, "", "", "", "", "", ""});
    for (const HookView &hook : view->hooks) {
      const std::string rate = rates->Of(fmt::format("{} hook {}", view->dir, hook.name), hook.hits, now);
      if (hook.id == 0) continue;  // never on
      hooks.Add({hook.name, std::to_string(hook.hits), rate, std::to_string(hook.lost),
                 std::to_string(hook.faults)},
                hook_parent);
    }
    for (const ChannelView &channel : view->channels) {
      const std::string rate =
          rates->Of(fmt::format("{} channel {}", view->dir, channel.name), channel.events, now);
      channels.Add({channel.name, channel.backend, channel.mode, std::to_string(channel.events), rate,
                    std::to_string(channel.lost), channel.reasons},
                   channel_parent);
    }
  }
  fmt::print("{}\n{}", hooks.Text(), channels.Text());
  fflush(stdout);
}

Result<double> Number(const std::string &text, const char *what) {
  char *end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(value > 0) || value > 1e6) {
    return Error{fmt::format("{}: found '{}', wanted a number greater than 0", what, text)};
  }
  return value;
}

int Run(const Args &args) {
  const Result<double> interval = Number(args.Get("interval").value_or("1"), "--interval");
  const Result<double> count = Number(args.Get("count").value_or("1000000"), "--count");
  for (const Result<double> *number : {&interval, &count}) {
    if (!*number) {
      fmt::print(stderr, "gkhi stat: {}\n", number->error());
      return kExitUsage;
    }
  }
  Result<std::vector<Process>> processes = ChooseProcesses(args, "stat", true);
  if (!processes) return Fail("stat", processes.error());
  if (processes->empty())
    return Fail("stat", "no process of yours was asked for tracing; name one with -p PID");
  const bool again = args.Has("interval") || args.Has("count");
  Rates rates;
  for (uint64_t i = 0; i < (again ? static_cast<uint64_t>(*count) : 1); i++) {
    if (i > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(*interval));
      fmt::print("\n");
    }
    PrintOnce(&*processes, args.Has("json"), &rates);
  }
  return kExitOk;
}

}  // namespace

const Command &StatCommand() {
  static const Command command = {
      "stat",
      "count events per hook and channel while it runs",
      "",
      "Prints how many events every hook that was ever on has fired, how many per second, how many could not "
      "be\n"
      "written, and how many operands of markers could not be read; then the same for channels, with the "
      "reasons. Reads the counters where they lie: nobody is "
      "stopped.",
      {
          {'p', "pid", "PID", "this process; may be repeated", "<pid>"},
          {'i', "interval", "SECONDS", "again and again, with rates"},
          {'c', "count", "N", "that many times"},
          {'j', "json", nullptr, "JSON: two objects a time, hooks and channels"},
      },
      {
          {"gkhi stat", "totals of all processes"},
          {"gkhi stat -p $(pidof server) -i 1", "rates, every second"},
      },
      Run,
  };
  return command;
}

}  // namespace gkhi::cli
