// SPDX-License-Identifier: MIT
// gkhi record: run a command with hooks on, or attach to running processes, and keep everything they say.
#include <fmt/format.h>
#include <signal.h>

#include <bit>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "batch_text.hpp"
#include "command.hpp"
#include "hook_view.hpp"
#include "kernel.hpp"
#include "launch.hpp"
#include "progress.hpp"
#include "recorder.hpp"
#include "session.hpp"

namespace gkhi::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::milliseconds(10);      // between two looks at signals and the child
constexpr auto kScanInterval = std::chrono::milliseconds(20);  // for new and ended processes
constexpr const char *kDefaultBatch = "*:*=on";
constexpr const char *kChannelOptions = "backend=ring mode=discard";

struct Options {
  std::string output;
  std::string batch;
  std::string kernel_batch;  // "": the kernel is not recorded
  std::string subbuf_size;
  std::string n_subbufs;
  bool strict = false;
};

Options ReadOptions(const Args &args) {
  Options options;
  options.output = args.Get("output").value_or(kDefaultOutput);
  options.subbuf_size = args.Get("subbuf-size").value_or("256K");
  options.n_subbufs = args.Get("subbufs").value_or("16");
  options.strict = args.Has("strict");
  options.batch = fmt::format("{}", fmt::join(args.All("event"), "\n"));  // one may end with a comment
  options.kernel_batch = fmt::format("{}", fmt::join(args.All("kernel"), "\n"));
  const char *environment = getenv("GKHI");
  if (options.batch.empty())
    options.batch = environment != nullptr && *environment ? environment : kDefaultBatch;
  return options;
}

// "256K" as the batch grammar has it; 0: no size.
uint64_t SizeOf(std::string_view text) {
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const std::string_view unit(end, text.data() + text.size() - end);
  constexpr std::string_view kUnits = "KMG";
  if (error != std::errc() || unit.size() > 1) return 0;
  if (unit.empty()) return size;
  const size_t power = kUnits.find(unit[0]);
  if (power == kUnits.npos || size > UINT64_MAX >> (10 * (power + 1))) return 0;
  return size << (10 * (power + 1));
}

// What every process would refuse, said before one is started.
std::string WrongSize(const Options &options) {
  const uint64_t size = SizeOf(options.subbuf_size);
  const bool plain = options.n_subbufs.find_first_not_of("0123456789") == std::string::npos;
  const uint64_t count = plain ? SizeOf(options.n_subbufs) : 0;
  if (!std::has_single_bit(size) || size < 4 << 10 || size > 64 << 20)
    return fmt::format("--subbuf-size: found '{}', wanted a power of two from 4K to 64M",
                       options.subbuf_size);
  if (!std::has_single_bit(count) || count < 4)
    return fmt::format("--subbufs: found '{}', wanted a power of two, at least 4", options.n_subbufs);
  if (count >= (uint64_t{4} << 30) / size)
    return fmt::format("--subbufs: found '{}' of {}, wanted less than 4G together", options.n_subbufs,
                       options.subbuf_size);
  return "";
}

std::string ChannelStatement(const Options &options, const std::string &name) {
  return fmt::format("channel {} {} subbuf_size={} n_subbufs={}", name, kChannelOptions, options.subbuf_size,
                     options.n_subbufs);
}

// The last line; loss decides the exit code only under --strict.
int Conclude(const Options &options, Recorder *recorder, int code) {
  recorder->RemoveEmpty();
  for (const std::string &problem : recorder->problems()) Fail("record", problem);
  if (const uint64_t n = recorder->faults(); n > 0)
    fmt::print(stderr, "gkhi record: {} operand{} could not be read: recorded as 0 or \"(fault)\"\n", n,
               n == 1 ? "" : "s");
  const reader::WriterTotals totals = recorder->totals();
  fmt::print(stderr, "gkhi record: {} -> {}\n", TotalsText(totals, recorder->sources()), options.output);
  return options.strict && totals.lost() > 0 ? kExitLoss : code;
}

// ----------------------------------------------------------------------------------------------- the kernel

// The kernel's part of a recording, if there is one.
class KernelPart {
 public:
  Status Start(const Options &options, Recorder *recorder) {
    if (options.kernel_batch.empty()) return Done{};
    const std::string channel = fmt::format("record-{}", getpid());
    Result<KernelHooksOn> on =
        KernelHooksOn::Switch(channel, ChannelStatement(options, channel), options.kernel_batch);
    if (!on) return Error{on.error()};
    on_ = std::move(*on);
    Result<std::unique_ptr<reader::KernelWriter>> writer = KernelTrace(options.output);
    if (!writer) return Error{writer.error()};
    Status opened = (*writer)->Open(channel);
    if (opened) recorder->AddKernel(std::move(*writer));
    return opened;
  }
  // Nothing comes any more.
  void Stop() {
    if (!on_) return;
    Status status = on_->TakeBack();
    if (!status) Fail("record", fmt::format("the kernel's hooks stay on: {}", status.error()));
  }

 private:
  std::optional<KernelHooksOn> on_;  // its end takes the channel away
};

// ------------------------------------------------------------------------------------------------ a command

// Takes in processes that appeared in the session, lets go of those that ended.
Status Scan(const Session &session, Recorder *recorder) {
  for (const std::string &process : session.Processes()) {
    if (!recorder->Knows(process) && recorder->Add(process)) session.Link(process);
  }
  Result<std::vector<std::string>> ended = recorder->FinishEnded();
  if (!ended) return Error{ended.error()};
  for (const std::string &process : *ended) session.Remove(process);
  return Done{};
}

// Processes of the session that outlive the command: their hooks go off, so that nothing fills a buffer
// nobody reads.
void SwitchOff(const Session &session) {
  for (const std::string &dir : session.Processes()) {
    Result<Process> process = Process::OpenDirectory(dir);
    if (!process || !process->Alive()) continue;
    Result<std::string> reply = process->Run("*:* -");
    if (!reply && process->Alive())
      Fail("record", fmt::format("{} runs on with its hooks on: {}", process->control().pid, reply.error()));
  }
}

void PassSignals(Child *child, SignalTaker *signals) {
  while (auto taken = signals->Next()) {
    // The terminal sends ^C to the command too: once is enough.
    if (taken->from_process || (taken->number != SIGINT && taken->number != SIGQUIT))
      child->Signal(taken->number);
  }
}

Status Follow(const Session &session, Child *child, SignalTaker *signals, Recorder *recorder) {
  Progress progress;
  Clock::time_point next_scan = Clock::now();
  for (;;) {
    const bool ended = child->Poll();
    PassSignals(child, signals);
    if (ended || Clock::now() >= next_scan) {
      Status status = Scan(session, recorder);
      if (!status) return status;
      next_scan = Clock::now() + kScanInterval;
    }
    if (ended) break;
    Result<uint64_t> drained = recorder->Drain();
    if (!drained) return Error{drained.error()};
    progress.Show(recorder->EventsFired(), recorder->totals(), recorder->sources());
    if (*drained == 0) recorder->Wait(kPatience);
  }
  progress.Clear();
  SwitchOff(session);
  return Done{};
}

// The trace cannot be written any more: the command's own work goes on without it.
int RunOn(const Session &session, Child *child, SignalTaker *signals) {
  SwitchOff(session);
  while (!child->Poll()) {
    PassSignals(child, signals);
    std::this_thread::sleep_for(kPatience);
  }
  return child->exit_code() != 0 ? child->exit_code() : kExitFailure;
}

int RecordCommand(const Args &args, const Options &options) {
  const Result<OutputLock> prepared = PrepareOutput(options.output);
  if (!prepared) return Fail("record", prepared.error());
  Result<Session> session = Session::Create();
  if (!session) return Fail("record", session.error());
  Environment environment;
  environment.gkhi = ChannelStatement(options, "main") + "; " + RouteTo(options.batch, "main");
  environment.dir = session->path();
  environment.preload = PreloadFor(args.operands()[0]);
  Recorder recorder(options.output);
  KernelPart kernel;
  Status status = kernel.Start(options, &recorder);
  if (!status) return Fail("record", status.error());
  SignalTaker signals;
  int exec_code = 0;
  Result<Child> child = Child::Start(args.operands(), environment, &exec_code);
  if (!child) {
    Fail("record", child.error());
    return exec_code;
  }
  status = Follow(*session, &*child, &signals, &recorder);
  kernel.Stop();
  if (status) status = recorder.FinishAll();
  if (!status) {
    Fail("record", status.error());
    return RunOn(*session, &*child, &signals);
  }
  return Conclude(options, &recorder, child->exit_code());
}

// -------------------------------------------------------------------------------------- running processes

struct Attached {
  Process process;
  std::vector<gkhi_control_hook> before;
};

Result<Attached> Attach(Process process, const Options &options, const std::string &channel) {
  Result<std::vector<gkhi_control_hook>> before = process.Hooks();
  if (!before) return Error{before.error()};
  Result<std::string> reply =
      process.Run(ChannelStatement(options, channel) + "; " + RouteTo(options.batch, channel));
  if (!reply) return Error{reply.error()};
  return Attached{std::move(process), std::move(*before)};
}

// Hooks as they were; the channel goes once its ring is read to the end.
void Detach(Attached *attached, const std::string &channel) {
  if (!attached->process.Alive()) return;
  Result<std::vector<gkhi_control_hook>> now = attached->process.Hooks();
  if (!now) return;
  const std::string batch = TakeBack(attached->before, *now, channel);
  if (batch.empty()) return;
  Result<std::string> reply = attached->process.Run(batch);
  if (!reply) Fail("record", fmt::format("{}: {}", attached->process.control().pid, reply.error()));
}

// Who records the kernel alone goes on until a signal.
bool AllEnded(std::vector<Attached> *attached) {
  if (attached->empty()) return false;
  for (Attached &one : *attached) {
    if (one.process.Alive()) return false;
  }
  return true;
}

// Until a signal says stop, or nobody is left.
Status FollowAttached(std::vector<Attached> *attached, SignalTaker *signals, Recorder *recorder) {
  Progress progress;
  Clock::time_point next_look = Clock::now();
  for (;;) {
    bool stop = false;
    while (auto taken = signals->Next()) stop |= taken->number != SIGWINCH && taken->number != SIGCONT;
    if (Clock::now() >= next_look) {
      stop |= AllEnded(attached);
      next_look = Clock::now() + std::chrono::milliseconds(200);
    }
    if (stop) break;
    Result<uint64_t> drained = recorder->Drain();
    if (!drained) return Error{drained.error()};
    progress.Show(recorder->EventsFired(), recorder->totals(), recorder->sources());
    if (*drained == 0) recorder->Wait(kPatience);
  }
  progress.Clear();
  return Done{};
}

int RecordAttached(const Args &args, const Options &options) {
  const Result<OutputLock> prepared = PrepareOutput(options.output);
  if (!prepared) return Fail("record", prepared.error());
  Result<std::vector<Process>> processes = std::vector<Process>();
  if (args.Has("pid")) processes = ChooseProcesses(args, "record", false);
  if (!processes) return Fail("record", processes.error());
  const std::string channel = fmt::format("record-{}", getpid());
  SignalTaker signals;
  Recorder recorder(options.output);
  std::vector<Attached> attached;
  KernelPart kernel;
  Status status = kernel.Start(options, &recorder);
  if (!status) return Fail("record", status.error());
  for (Process &process : *processes) {
    Result<Attached> one = Attach(std::move(process), options, channel);
    if (!one) {
      status = Error{one.error()};
      break;
    }
    recorder.Add(one->process.dir(), channel);
    attached.push_back(std::move(*one));
  }
  if (status) status = FollowAttached(&attached, &signals, &recorder);
  kernel.Stop();
  for (Attached &one : attached) Detach(&one, channel);
  if (status) status = recorder.FinishAll();
  for (Attached &one : attached) {
    if (one.process.Alive() && !one.process.Run(fmt::format("channel {} -", channel)))
      fmt::print(stderr, "gkhi record: {}: channel {} stays\n", one.process.control().pid, channel);
  }
  if (!status) return Fail("record", status.error());
  return Conclude(options, &recorder, kExitOk);
}

int Run(const Args &args) {
  const bool attach = args.Has("pid"), command = !args.operands().empty();
  if (attach ? command : !command && !args.Has("kernel")) {
    fmt::print(stderr, "gkhi record: found {}, wanted either -p PID or a command: gkhi record -- CMD\n",
               attach ? "both" : "neither");
    return kExitUsage;
  }
  const Options options = ReadOptions(args);
  const std::string wrong = WrongSize(options);
  if (!wrong.empty()) {
    fmt::print(stderr, "gkhi record: {}\n", wrong);
    return kExitUsage;
  }
  return command ? RecordCommand(args, options) : RecordAttached(args, options);
}

}  // namespace

const Command &RecordVerb() {
  static const Command command = {
      "record",
      "run a command with hooks on, or attach, and keep every event",
      "[--] CMD [ARG]... | -p PID... | -k BATCH",
      "Runs CMD with its hooks on, and those of all processes it starts, and writes what they fire to a "
      "trace while they\n"
      "run. The exit status is that of CMD, 128 + N when signal N killed it. With -p it attaches to running "
      "processes\n"
      "instead, until ^C or their end, and leaves their hooks as they were.\n\n"
      "Hooks: the batches given with -e, where names alone are switched on; without one those of $GKHI; "
      "else\n"
      "everything is on ('*:*=on'). docs/control.md has the grammar. With -k the hooks of the kernel that "
      "BATCH names are\n"
      "recorded, too, while the command or the processes run, or, alone, until ^C; they are left as they "
      "were.\n\n"
      "Buffers discard events, and count them, when they are full: the last "
      "line says\n"
      "how many, and larger buffers help (--subbufs, --subbuf-size).\n\n"
      "A trace that is already in the output folder is kept as FOLDER.old.",
      {
          {'e', "event", "BATCH", "what to switch on; may be repeated", "<hook>"},
          {'k', "kernel", "BATCH", "what to switch on in the kernel; may be repeated"},
          {'o', "output", "DIR", "where the trace goes; gkhi.trace when not given", "<dir>"},
          {'p', "pid", "PID", "attach to this process; may be repeated", "<pid>"},
          {0, "subbuf-size", "SIZE", "bytes of one sub-buffer, K and M allowed; 256K when not given",
           "64K 256K 1M 4M"},
          {0, "subbufs", "N", "sub-buffers per cpu, a power of two; 16 when not given", "8 16 32 64"},
          {0, "strict", nullptr, "exit with 3 when events were lost"},
      },
      {
          {"gkhi record -- ./server --port 80", "everything, of the server and its children"},
          {"gkhi record -e 'sqlite:step=static' -o steps -- sqlite3 test.db < work.sql", "one hook"},
          {"gkhi record -p $(pidof server) -e 'net:*=marker'", "attach; stop with ^C"},
          {"gkhi record -k 'netdemo:*=static' -- ping -c 1 ::1", "the kernel, while a command runs"},
          {"gkhi record --strict -- make check || echo 'failed, or incomplete'", "loss is a failure"},
      },
      Run,
      true,
  };
  return command;
}

}  // namespace gkhi::cli
