// SPDX-License-Identifier: MIT
// gkhi snapshot: what the rings of a process hold at this moment, as a trace. The process may be dead.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <gkhi/reader/trace_writer.hpp>

#include "command.hpp"
#include "kernel.hpp"
#include "output_dir.hpp"
#include "progress.hpp"
#include "request.hpp"

namespace gkhi::cli {
namespace {

bool IsNumber(const std::string &text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Directories of the processes that were asked for: by pid, or as they are.
Result<std::vector<std::string>> Sources(const Args &args) {
  std::vector<std::string> dirs;
  std::vector<std::string> pids = args.All("pid");
  for (const std::string &operand : args.operands()) {
    if (IsNumber(operand)) {
      pids.push_back(operand);
    } else {
      dirs.push_back(operand);
    }
  }
  const std::vector<ProcessDirectory> known = ListProcesses();
  for (const std::string &pid : pids) {
    const size_t before = dirs.size();
    for (const ProcessDirectory &process : known) {
      if (std::to_string(process.pid) == pid) dirs.push_back(process.path);
    }
    if (dirs.size() == before) {
      return Error{fmt::format("no process {} has buffers in {}; see 'gkhi list'", pid,
                               fmt::join(RuntimeFolders(), " or "))};
    }
  }
  return dirs;
}

// What the kernel's flight recorders hold. To read another channel is to take its packets away.
Result<reader::WriterTotals> SnapshotKernel(const std::string &output, std::vector<std::string> *problems) {
  Result<std::unique_ptr<reader::KernelWriter>> writer = KernelTrace(output);
  if (!writer) return Error{writer.error()};
  for (const std::string &channel : KernelChannels()) {
    if (!(*writer)->HasData(channel)) continue;
    if (KernelChannelIsManaged(channel)) {
      problems->push_back(fmt::format(
          "channel {} is left alone: it overwrites nothing, and who reads it takes its packets", channel));
      continue;
    }
    Status opened = (*writer)->Open(channel);
    if (!opened) problems->push_back(opened.error());
  }
  Status status = (*writer)->Snapshot();
  if (!status) return Error{status.error()};
  problems->insert(problems->end(), (*writer)->problems().begin(), (*writer)->problems().end());
  return (*writer)->totals();
}

int Run(const Args &args) {
  Result<std::vector<std::string>> sources = Sources(args);
  if (!sources) return Fail("snapshot", sources.error());
  const bool kernel = args.Has("kernel");
  if (sources->empty() && !kernel) {
    fmt::print(stderr,
               "gkhi snapshot: found no process, wanted -p PID or the folder of one; see 'gkhi list'\n");
    return kExitUsage;
  }
  const std::string output = args.Get("output").value_or(kDefaultOutput);
  const Result<OutputLock> prepared = PrepareOutput(output);
  if (!prepared) return Fail("snapshot", prepared.error());
  OutputNames names(output);
  reader::WriterTotals totals;
  std::vector<std::string> problems;
  for (const std::string &dir : *sources) {
    Result<reader::Producer> producer = reader::Producer::Open(dir);
    if (!producer) return Fail("snapshot", producer.error());
    Result<reader::ClockRecord> clock = ClockOf(*producer);
    if (!clock) return Fail("snapshot", clock.error());
    Result<reader::WriterTotals> written =
        reader::WriteSnapshot(dir, *clock, names.Next(*producer), &problems);
    if (!written) return Fail("snapshot", written.error());
    totals.Add(*written);
  }
  if (kernel) {
    Result<reader::WriterTotals> written = SnapshotKernel(output, &problems);
    if (!written) return Fail("snapshot", written.error());
    totals.Add(*written);
  }
  for (const std::string &problem : problems) Fail("snapshot", problem);
  fmt::print(stderr, "gkhi snapshot: {} -> {}\n", TotalsText(totals, {sources->size(), kernel}), output);
  return args.Has("strict") && totals.lost() > 0 ? kExitLoss : kExitOk;
}

}  // namespace

const Command &SnapshotCommand() {
  static const Command command = {
      "snapshot",
      "save what the buffers of a process hold now; it may be dead",
      "[PID|FOLDER]...",
      "Copies the buffers of processes into a trace: of running ones without stopping them, of dead ones "
      "(killed,\n"
      "crashed, or ended with GKHI_KEEP=1) what they last wrote. A flight recorder that overwrites its "
      "oldest packets is\n"
      "read this way; 'overwritten' counts the events it no longer holds.\n\n"
      "A trace that is already in the output folder is kept as FOLDER.old.",
      {
          {'p', "pid", "PID", "this process; may be repeated", "<pid>"},
          {'o', "output", "DIR", "where the trace goes; gkhi.trace when not given", "<dir>"},
          {'k', "kernel", nullptr, "what the kernel's channels hold, too"},
          {0, "strict", nullptr, "exit with 3 when events are missing"},
      },
      {
          {"gkhi snapshot -p $(pidof server) && gkhi report", "what did it do just now?"},
          {"gkhi snapshot 4711 -o crash && gkhi report crash | tail",
           "the last events of a process that was killed"},
          {"gkhi snapshot /dev/shm/gkhi-1000/4711-883424",
           "the folder of a process, wherever it was copied to"},
          {"gkhi snapshot --kernel", "the flight recorders of the kernel"},
      },
      Run,
      false,
      "<pid>",
  };
  return command;
}

}  // namespace gkhi::cli
