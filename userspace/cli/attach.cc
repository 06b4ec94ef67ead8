// SPDX-License-Identifier: MIT
#include "attach.hpp"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "procfs.hpp"
#include "tracee.hpp"

namespace gkhi {
namespace {

using Clock = Tracee::Clock;
using std::chrono::milliseconds;

constexpr size_t kNotesMax = 64 << 10;
constexpr unsigned kHeadersMax = 128;

std::string Name(pid_t pid) {
  return "process " + std::to_string(pid);
}

const char kInstead[] = "start it with GKHI_AGENT=thread or with GKHI=<batch>, or let it call gkhi_poll()";

// ------------------------------------------------------------------ where the runtime is

// The address of the info that a note speaks of; 0: none of ours among these notes.
uint64_t SearchNotes(const std::vector<char> &notes, uint64_t address) {
  for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr head;
    std::memcpy(&head, &notes[at], sizeof(head));
    const size_t name = at + sizeof(head);
    const size_t desc = name + ((size_t{head.n_namesz} + 3) & ~size_t{3});
    const size_t next = desc + ((size_t{head.n_descsz} + 3) & ~size_t{3});
    if (next > notes.size()) return 0;
    if (head.n_type == GKHI_NOTE_RUNTIME && head.n_namesz == sizeof(GKHI_NOTE_OWNER) && head.n_descsz == 8 &&
        !std::memcmp(&notes[name], GKHI_NOTE_OWNER, sizeof(GKHI_NOTE_OWNER))) {
      int64_t distance = 0;
      std::memcpy(&distance, &notes[desc], sizeof(distance));
      return address + desc + static_cast<uint64_t>(distance);
    }
    at = next;
  }
  return 0;
}

enum class ElfKind { kNone, k32Bit, k64Bit };

ElfKind KindOf(pid_t pid, uint64_t start, Elf64_Ehdr *ehdr) {
  if (!ReadMemory(pid, start, ehdr, sizeof(*ehdr)) || std::memcmp(ehdr->e_ident, ELFMAG, SELFMAG))
    return ElfKind::kNone;
  return ehdr->e_ident[EI_CLASS] == ELFCLASS32 ? ElfKind::k32Bit : ElfKind::k64Bit;
}

// The runtime's info in the ELF object whose first byte is at `start`; 0: none.
uint64_t SearchObject(pid_t pid, uint64_t start, const Elf64_Ehdr &ehdr) {
  if (ehdr.e_phentsize != sizeof(Elf64_Phdr) || ehdr.e_phnum == 0 || ehdr.e_phnum > kHeadersMax) return 0;
  std::vector<Elf64_Phdr> headers(ehdr.e_phnum);
  if (!ReadMemory(pid, start + ehdr.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr))) return 0;
  auto first =
      std::find_if(headers.begin(), headers.end(), [](const Elf64_Phdr &p) { return p.p_type == PT_LOAD; });
  if (first == headers.end()) return 0;
  const uint64_t bias = start + first->p_offset - first->p_vaddr;
  for (const Elf64_Phdr &p : headers) {
    if (p.p_type != PT_NOTE || p.p_filesz > kNotesMax) continue;
    std::vector<char> notes(p.p_filesz);
    if (!ReadMemory(pid, bias + p.p_vaddr, notes.data(), notes.size())) continue;
    if (uint64_t info = SearchNotes(notes, bias + p.p_vaddr)) return info;
  }
  return 0;
}

// Younger than a second: what is not in it yet may come. An exec makes no process younger.
bool IsStarting(pid_t pid) {
  timespec now{};
  const auto start = ReadStartTime(pid);
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto hz = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  const uint64_t ticks =
      static_cast<uint64_t>(now.tv_sec) * hz + static_cast<uint64_t>(now.tv_nsec) * hz / 1'000'000'000;
  return start && ticks - *start < hz;
}

// Waits to be reaped: no memory, no threads that run.
bool HasEnded(pid_t pid) {
  std::vector<ThreadState> threads = ListThreads(pid);
  return std::all_of(threads.begin(), threads.end(),
                     [](auto &t) { return t.state == 'Z' || t.state == 'X'; });
}

// ------------------------------------------------------------------ who may attach

bool HaveCapability(unsigned number) {
  auto text = ReadWholeFile("/proc/self/status");
  size_t at = text ? text->find("CapEff:") : std::string::npos;
  return at != std::string::npos && std::strtoull(text->c_str() + at + 7, nullptr, 16) >> number & 1;
}

bool MayTraceAll() {
  return HaveCapability(19);
}  // CAP_SYS_PTRACE

int YamaScope() {
  auto text = ReadWholeFile("/proc/sys/kernel/yama/ptrace_scope");
  return text ? std::atoi(text->c_str()) : 0;
}

std::string ForbiddenText(pid_t pid) {
  const int scope = YamaScope();
  if (scope >= 3 || (scope > 0 && !MayTraceAll()))
    return Name(pid) + ": Yama (kernel.yama.ptrace_scope = " + std::to_string(scope) +
           ") forbids ptrace: " + (scope >= 3 ? "" : "run gkhi as root, or ") + kInstead;
  if (auto why = WhyNotAttach(pid)) return *why;
  return Name(pid) +
         ": the kernel forbids ptrace (a security module, or a program that is not dumpable): " + kInstead;
}

// ------------------------------------------------------------------ one call

// Threads in the order in which they should be tried: those first that notice a stop least.
std::vector<pid_t> Candidates(pid_t pid) {
  std::vector<std::pair<int, pid_t>> ranked;
  for (const ThreadState &t : ListThreads(pid)) {
    if (std::strchr("DZXxtTI", t.state))
      continue;  // does not stop now, or has ended, or is stopped by others
    static constexpr std::array<int64_t, 6> kSayInterrupted = {
        SYS_epoll_wait, SYS_epoll_pwait, 441, SYS_semop, SYS_semtimedop, SYS_rt_sigtimedwait};
    const bool noticed =
        std::find(kSayInterrupted.begin(), kSayInterrupted.end(), t.syscall) != kSayInterrupted.end();
    ranked.emplace_back(noticed ? 1 : 0, t.tid);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](auto &a, auto &b) { return a.first < b.first; });
  // Not always the same one first: it may be the one that never gets out of a slow path.
  static unsigned turn = 0;
  auto end = std::find_if(ranked.begin(), ranked.end(), [](auto &r) { return r.first > 0; });
  if (end != ranked.begin())
    std::rotate(ranked.begin(), ranked.begin() + turn++ % (end - ranked.begin()), end);
  std::vector<pid_t> tids;
  for (auto &r : ranked) tids.push_back(r.second);
  return tids;
}

// Keeps Ctrl-C and the like out while a thread's registers are in our hands.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

constexpr milliseconds kStopTime{100};     // for one thread to stop
constexpr milliseconds kCallTime{30'000};  // large channels allocate gigabytes; broken off never before

// One remote call in a process at a time: they leave in it what puts the thread back. Only who may trace the
// process may open its memory; and a lock goes with its owner.
class RemoteLock {
 public:
  explicit RemoteLock(pid_t pid)
      : fd_(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~RemoteLock() {
    if (fd_ >= 0) close(fd_);
  }
  RemoteLock(const RemoteLock &) = delete;
  RemoteLock &operator=(const RemoteLock &) = delete;

  bool opened() const { return fd_ >= 0; }
  bool Try() const { return flock(fd_, LOCK_EX | LOCK_NB) == 0; }

 private:
  int fd_;
};

// The thread that a gkhi that was killed may have left inside of a call; 0: none.
pid_t LeftBehind(pid_t pid, const gkhi_runtime_info &info) {
  uint32_t tid = 0;
  if (!info.remote || !ReadMemory(pid, info.remote, &tid, sizeof(tid))) return 0;
  const std::string task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
  return tid != 0 && access(task.c_str(), F_OK) == 0 ? static_cast<pid_t>(tid) : 0;
}

// Is what was found there still there? An exec takes it away.
bool IsThere(pid_t pid, const RuntimeAddress &runtime) {
  gkhi_runtime_info now{};
  return ReadMemory(pid, runtime.info, &now, sizeof(now)) && now.magic == runtime.copy.magic &&
         now.version == runtime.copy.version && now.entry == runtime.copy.entry &&
         now.remote == runtime.copy.remote;
}

Tracee::Outcome CallIn(pid_t pid, pid_t tid, const RuntimeAddress &runtime, gkhi_remote_op op, int *result,
                       int *err) {
  const gkhi_runtime_info &info = runtime.copy;
  SignalsBlocked blocked;
  Tracee tracee(pid, tid);
  tracee.SetRemote(info.remote);
  Tracee::Outcome outcome = tracee.Stop(Clock::now() + kStopTime);
  if (outcome == Tracee::Outcome::kDone && (!IsThere(pid, runtime) || tracee.IsInside(info)))
    outcome = Tracee::Outcome::kBusy;
  if (outcome == Tracee::Outcome::kDone)
    outcome = tracee.Call(info.entry, op, Clock::now() + kCallTime, result);
  *err = tracee.Errno();
  return outcome;
}

// The threads to try, in order. One that was left behind goes first: where it is, it knows alone.
std::vector<pid_t> ThreadsFor(pid_t pid, const gkhi_runtime_info &info, std::string *last) {
  const pid_t left = LeftBehind(pid, info);
  if (left == 0) return Candidates(pid);
  *last = "thread " + std::to_string(left) + " is inside of a call whose gkhi was killed";
  return {left};
}

std::optional<Error> Fatal(Tracee::Outcome outcome, pid_t pid, int err) {
  switch (outcome) {
    case Tracee::Outcome::kForbidden:
      return Error{ForbiddenText(pid)};
    case Tracee::Outcome::k32Bit:
      return Error{Name(pid) + ": found a 32-bit program, wanted x86-64"};
    case Tracee::Outcome::kCrashed:
      return Error{Name(pid) +
                   ": its runtime crashed in the call; the program goes on, its hooks cannot be "
                   "switched any more"};
    case Tracee::Outcome::kStuck:
      return Error{Name(pid) +
                   ": the call did not end; the program goes on, its hooks cannot be switched any more"};
    case Tracee::Outcome::kError:
      return Error{Name(pid) + ": ptrace: " + std::strerror(err)};
    default:
      return std::nullopt;
  }
}

RemoteReply ReplyOf(pid_t pid, uint64_t info, int result) {
  RemoteReply reply;
  gkhi_runtime_info copy{};
  reply.result = result;
  if (ReadMemory(pid, info, &copy, sizeof(copy))) {
    reply.dir.assign(copy.dir, strnlen(copy.dir, sizeof(copy.dir)));
    reply.error.assign(copy.error, strnlen(copy.error, sizeof(copy.error)));
  }
  return reply;
}

}  // namespace

Result<RuntimeAddress> FindRuntime(pid_t pid) {
  if (kill(pid, 0) && errno == ESRCH) return Error{Name(pid) + ": no such process"};
  std::vector<Mapping> maps = ReadMaps(pid);
  if (maps.empty() && HasEnded(pid)) return Error{Name(pid) + ": it has ended"};
  if (maps.empty()) return Error{Name(pid) + ": its memory map cannot be read: " + ForbiddenText(pid)};
  bool wide = false, narrow = false;
  for (const Mapping &m : maps) {
    Elf64_Ehdr ehdr;
    if (m.offset != 0 || !m.readable || m.inode == 0) continue;
    ElfKind kind = KindOf(pid, m.start, &ehdr);
    narrow |= kind == ElfKind::k32Bit;
    if (kind != ElfKind::k64Bit) continue;
    wide = true;
    RuntimeAddress found;
    found.info = SearchObject(pid, m.start, ehdr);
    if (found.info && ReadMemory(pid, found.info, &found.copy, sizeof(found.copy)) &&
        found.copy.magic == GKHI_CONTROL_MAGIC) {
      if (found.copy.version == GKHI_CONTROL_VERSION) return found;
      return Error{Name(pid) + ": found a runtime of version " + std::to_string(found.copy.version) +
                   ", wanted " + std::to_string(GKHI_CONTROL_VERSION)};
    }
  }
  if (narrow && !wide) return Error{Name(pid) + ": found a 32-bit program, wanted x86-64"};
  if (!wide) return Error{Name(pid) + ": its memory cannot be read: " + ForbiddenText(pid)};
  return Error{Name(pid) +
               ": no gkhi runtime in it: link the program with gkhi::gkhi, or start it with "
               "LD_PRELOAD=libgkhi.so.0"};
}

std::optional<std::string> WhyNotAttach(pid_t pid) {
  auto status = ReadStatus(pid);
  if (!status) return Name(pid) + ": no such process";
  if (status->tracer != 0)
    return Name(pid) + ": traced already by process " + std::to_string(status->tracer) +
           " (a debugger, strace): end that first, or " + kInstead;
  if (status->seccomp != 0)
    return Name(pid) + ": seccomp is active in it, so that a call might kill it: " + kInstead;
  if (status->uid != geteuid() && !MayTraceAll())
    return Name(pid) + ": belongs to user " + std::to_string(status->uid) + ", this is user " +
           std::to_string(geteuid()) + ": run gkhi as that user or as root";
  return std::nullopt;
}

Result<RemoteReply> RemoteCall(pid_t pid, gkhi_remote_op op, milliseconds timeout) {
  if (auto why = WhyNotAttach(pid)) return Error{*why};
  const Clock::time_point deadline = Clock::now() + timeout;
  const RemoteLock lock(pid);
  std::string last = "no thread of it could be stopped";
  for (int round = 0;; round++) {
    auto runtime = FindRuntime(pid);
    if (!runtime && (!IsStarting(pid) || Clock::now() > deadline)) return Error{runtime.error()};
    if (!lock.opened()) return Error{ForbiddenText(pid)};
    if (!runtime) {
      last = "its runtime is not there yet";
    } else if (runtime->copy.ready && runtime->copy.entry && !lock.Try()) {
      last = "another gkhi is at it";
    } else if (runtime->copy.ready && runtime->copy.entry) {
      for (pid_t tid : ThreadsFor(pid, runtime->copy, &last)) {
        int result = 0, err = 0;
        Tracee::Outcome outcome = CallIn(pid, tid, *runtime, op, &result, &err);
        if (auto error = Fatal(outcome, pid, err)) return *error;
        if (outcome == Tracee::Outcome::kDone && result != -EAGAIN)
          return ReplyOf(pid, runtime->info, result);
        if (outcome == Tracee::Outcome::kDone) last = "its control lock was taken all the time";
        if (Clock::now() > deadline) break;
      }
    } else {
      last = "it has not finished starting";
    }
    if (HasEnded(pid)) return Error{Name(pid) + ": it ended meanwhile"};
    if (Clock::now() > deadline)
      return Error{Name(pid) + ": not done within " + std::to_string(timeout.count()) + " ms: " + last};
    timespec nap{0, std::min(round + 1, 20) * 500'000L};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace gkhi
