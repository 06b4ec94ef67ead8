// SPDX-License-Identifier: MIT
// gkhi clean: take away what dead processes left behind.
#include <fmt/format.h>

#include <algorithm>

#include <cstdio>
#include <filesystem>
#include <gkhi/reader/printable.hpp>

#include "command.hpp"
#include "hook_view.hpp"
#include "session.hpp"

namespace gkhi::cli {
namespace {

namespace fs = std::filesystem;

bool Remove(const std::string &path, bool dry) {
  fmt::print("{}\n", reader::Printable(path));
  if (dry) return true;
  std::error_code ec;
  fs::remove_all(path, ec);
  if (ec) Fail("clean", fmt::format("cannot remove {}: {}", path, ec.message()));
  return !ec;
}

int Run(const Args &args) {
  if (!args.operands().empty()) {
    fmt::print(stderr, "gkhi clean: found '{}', wanted no operand (-p PID chooses a process)\n",
               args.operands()[0]);
    return kExitUsage;
  }
  bool good = true;
  const std::vector<std::string> pids = args.All("pid");
  for (const ProcessDirectory &process : ListProcesses()) {
    if (process.alive) continue;
    if (!pids.empty() && std::find(pids.begin(), pids.end(), std::to_string(process.pid)) == pids.end())
      continue;
    good &= Remove(process.path, args.Has("dry-run"));
  }
  for (const std::string &session : DeadSessions()) {
    if (pids.empty()) good &= Remove(session, args.Has("dry-run"));
  }
  return good ? kExitOk : kExitFailure;
}

}  // namespace

const Command &CleanCommand() {
  static const Command command = {
      "clean",
      "remove the buffers of processes that are dead",
      "",
      "Removes the folders of processes that no longer run, and those of recordings that were killed; prints "
      "each. What\n"
      "they held can then no longer be saved with 'gkhi snapshot'.",
      {
          {'p', "pid", "PID", "of this process only; may be repeated"},
          {'n', "dry-run", nullptr, "print what would go, and leave it"},
      },
      {
          {"gkhi clean --dry-run", "what is left of whom?"},
          {"gkhi snapshot 4711 -o crash && gkhi clean -p 4711", "keep the trace, not the buffers"},
      },
      Run,
  };
  return command;
}

}  // namespace gkhi::cli
