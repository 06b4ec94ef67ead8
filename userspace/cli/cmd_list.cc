// SPDX-License-Identifier: MIT
// gkhi list: processes and their hooks, as lsblk lists disks.
#include <fmt/format.h>

#include <algorithm>

#include <cstdio>

#include "command.hpp"
#include "hook_view.hpp"
#include "table.hpp"

namespace gkhi::cli {
namespace {

const std::vector<Column> kColumns = {
    {"HOOK", "provider:event; of a process: its name and pid", false, false, true},
    {"STATE", "asked for: disabled, static, marker"},
    {"EFFECTIVE", "what it really is, and why when that differs"},
    {"CHANNEL", "where its events go"},
    {"SITES", "places in the code that are switched", true, true},
    {"HITS", "events so far", true, true},
    {"LOST", "events that could not be written", true, true},
    {"PID", "process", true, true},
    {"COMM", "name of the process"},
    {"ALIVE", "yes, or dead: only its buffers are left"},
    {"ID", "number in the trace; 0: never on yet", true, true},
    {"KEYS", "sites with a jump of their own", true, true},
    {"PADS", "sites that can carry a marker", true, true},
    {"LAYOUT", "hash of the fields"},
    {"STABILITY", "private, evolving, stable"},
    {"DIR", "folder of the process"},
};
const std::vector<std::string> kHidden = {"PID",  "COMM",   "ALIVE",     "ID", "KEYS",
                                          "PADS", "LAYOUT", "STABILITY", "DIR"};

std::vector<std::string> ProcessRow(const ProcessView &process) {
  std::vector<std::string> row(kColumns.size());
  row[0] = fmt::format("{} ({}){}", process.comm, process.pid, process.alive ? "" : " dead");
  row[7] = std::to_string(process.pid);
  row[8] = process.comm;
  row[9] = process.alive ? "yes" : "dead";
  row[15] = process.dir;
  return row;
}

std::vector<std::string> HookRow(const ProcessView &process, const HookView &hook) {
  std::vector<std::string> row = ProcessRow(process);
  row[0] = hook.name;
  row[1] = hook.state;
  row[2] = hook.gone ? "unloaded" : hook.effective;
  row[3] = hook.channels;
  row[4] = std::to_string(std::max(hook.keys, hook.pads));
  row[5] = std::to_string(hook.hits);
  row[6] = std::to_string(hook.lost);
  row[10] = std::to_string(hook.id);
  row[11] = std::to_string(hook.keys);
  row[12] = std::to_string(hook.pads);
  row[13] = fmt::format("{:#018x}", hook.layout);
  row[14] = hook.stability;
  return row;
}

int Run(const Args &args) {
  if (!args.operands().empty()) {
    fmt::print(stderr, "gkhi list: found '{}', wanted no operand (-p PID chooses a process)\n",
               args.operands()[0]);
    return kExitUsage;
  }
  Result<std::vector<size_t>> columns = SelectColumns(kColumns, args.Get("output").value_or(""), kHidden);
  if (!columns) {
    fmt::print(stderr, "gkhi list: --output: {}\n", columns.error());
    return kExitUsage;
  }
  Result<std::vector<Process>> processes = ChooseProcesses(args, "list", true);
  if (!processes) return Fail("list", processes.error());
  if (processes->empty() && !args.Has("json")) {
    fmt::print(stderr, "gkhi list: no process of yours was asked for tracing; name one with -p PID\n");
  }
  const bool raw = args.Has("raw");
  Table table("hooks", kColumns, *columns, {args.Has("json"), raw, !args.Has("noheadings")});
  for (Process &process : *processes) {
    Result<ProcessView> view = ViewProcess(&process);
    if (!view) {
      Fail("list", view.error());
      continue;
    }
    // Raw output is for scripts: a line is a hook.
    const int parent = raw ? -1 : table.Add(ProcessRow(*view));
    for (const HookView &hook : view->hooks) table.Add(HookRow(*view, hook), parent);
  }
  fmt::print("{}", table.Text());
  return kExitOk;
}

}  // namespace

const Command &ListCommand() {
  static const std::string description =
      "Lists the processes of yours that were asked for tracing, with their hooks. With -p a process is "
      "asked that was\n"
      "not asked before: it then makes its folder, and stays as it is otherwise.\n\nColumns:\n" +
      ColumnsHelp(kColumns);
  static const Command command = {
      "list",
      "list processes and their hooks",
      "",
      description.c_str(),
      {
          {'p', "pid", "PID", "this process; may be repeated", "<pid>"},
          {'j', "json", nullptr, "JSON, as lsblk prints it"},
          {'o', "output", "COLUMNS", "these columns, with commas between",
           "HOOK STATE EFFECTIVE CHANNEL SITES HITS LOST PID COMM ALIVE ID KEYS PADS LAYOUT STABILITY DIR"},
          {'r', "raw", nullptr, "a line is a hook, columns with one blank between"},
          {'n', "noheadings", nullptr, "no headings"},
      },
      {
          {"gkhi list", "everything that can be switched, and what is on"},
          {"gkhi list -p $(pidof server) -o HOOK,STATE,HITS", "one process, three columns"},
          {"gkhi list --json | jq '.hooks[].children[]? | select(.lost > 0)'", "hooks that lost events"},
      },
      Run,
  };
  return command;
}

}  // namespace gkhi::cli
