// SPDX-License-Identifier: MIT
// gkhi set: run a batch in one process or in all of them.
#include <fmt/format.h>

#include <cstdio>
#include <gkhi/reader/printable.hpp>

#include "command.hpp"
#include "hook_view.hpp"

namespace gkhi::cli {
namespace {

void PrintReply(const std::string &reply, size_t processes, pid_t pid) {
  if (reply.empty()) return;
  if (processes > 1) fmt::print("{}: ", pid);
  fmt::print("{}{}", reader::Printable(reply), reply.back() == '\n' ? "" : "\n");
}

int Run(const Args &args) {
  if (args.operands().empty()) {
    fmt::print(stderr, "gkhi set: found no batch, wanted one: gkhi set -p PID 'provider:event=static'\n");
    return kExitUsage;
  }
  if (args.Has("pid") == args.Has("all")) {
    fmt::print(stderr, "gkhi set: found {}, wanted either -p PID or -a\n",
               args.Has("pid") ? "both -p and -a" : "neither -p nor -a");
    return kExitUsage;
  }
  const std::string batch = fmt::format("{}", fmt::join(args.operands(), " "));
  Result<std::vector<Process>> processes = ChooseProcesses(args, "set", false);
  if (!processes) return Fail("set", processes.error());
  if (processes->empty())
    return Fail("set", "no process of yours was asked for tracing; name one with -p PID");
  int failed = 0;
  for (Process &process : *processes) {
    const auto pid = static_cast<pid_t>(process.control().pid);
    Result<std::string> reply = process.Run(batch);
    if (reply) {
      PrintReply(*reply, processes->size(), pid);
    } else {
      Fail("set", fmt::format("{}: {}", pid, reply.error()));
      failed++;
    }
  }
  return failed == 0 ? kExitOk : kExitFailure;
}

}  // namespace

const Command &SetCommand() {
  static const Command command = {
      "set",
      "switch hooks and make channels in running programs",
      "BATCH...",
      "Runs a batch in a process: all of it, or nothing when there is a mistake in it. Operands are joined "
      "with blanks.\n\n"
      "  sqlite:step=static              a hook, or a glob of them, to a state: disabled, static, marker\n"
      "  sqlite:*=on                     static where it is compiled in, else marker\n"
      "  sqlite:* +marker channel=flight more than one action; a channel must be there\n"
      "  sqlite:* -                      off\n"
      "  file rx.c line 10-90 +static    by place in the source; also func GLOB, module GLOB\n"
      "  channel flight backend=ring mode=overwrite subbuf_size=1M n_subbufs=8\n"
      "                                  make a channel; 'channel flight -' removes it\n"
      "  a; b                            several statements, one switch\n\n"
      "docs/control.md has the whole grammar.",
      {
          {'p', "pid", "PID", "in this process; may be repeated", "<pid>"},
          {'a', "all", nullptr, "in all processes that 'gkhi list' shows"},
      },
      {
          {"gkhi set -p $(pidof server) 'sqlite:*=static'", "switch a provider on"},
          {"gkhi set -p 4711 'sqlite:step +marker; sqlite:fsync -'", "two hooks at once"},
          {"gkhi set -a '*:* -'", "everything off, everywhere"},
      },
      Run,
      false,
      "<hook>",
  };
  return command;
}

}  // namespace gkhi::cli
