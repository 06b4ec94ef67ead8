// SPDX-License-Identifier: MIT
#include "tracee.hpp"

#include <elf.h>
#include <gkhi/control.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "procfs.hpp"

namespace gkhi {
namespace {

constexpr int kEventStop = 128;  // PTRACE_EVENT_STOP
constexpr int kSyscallStop = SIGTRAP | 0x80;
constexpr int kGetRseqConfiguration = 0x420f;
constexpr size_t kXstateMax = 64 << 10;

// glibc's enum of requests and the kernel's header do not go together; the numbers are ABI.
long Ptrace(int request, pid_t tid, uintptr_t addr, uintptr_t data) {
  return syscall(SYS_ptrace, request, tid, addr, data);
}

int EventOf(int status) {
  return static_cast<unsigned>(status) >> 16;
}

bool IsFault(int sig) {
  return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP ||
         sig == SIGSYS || sig == SIGABRT;
}

// struct ptrace_rseq_configuration and struct rseq_cs, of the kernel's ABI.
struct RseqConfiguration {
  uint64_t area;
  uint32_t size;
  uint32_t signature;
  uint32_t flags;
  uint32_t pad;
};
struct RseqSection {
  uint32_t version;
  uint32_t flags;
  uint64_t start_ip;
  uint64_t post_commit_offset;
  uint64_t abort_ip;
};

// System calls that answer EINTR to a stop, where others are restarted by the kernel (signal(7)); done again
// they do what they would have done. Not close() and connect(), which are half done by then.
bool IsRepeatable(uint64_t nr) {
  static constexpr std::array<uint64_t, 17> kNumbers = {
      SYS_read,     SYS_write,   SYS_readv,        SYS_writev,  SYS_epoll_wait, SYS_epoll_pwait,
      441,          SYS_semop,   SYS_semtimedop,   SYS_accept,  SYS_accept4,    SYS_rt_sigtimedwait,
      SYS_recvfrom, SYS_recvmsg, SYS_io_getevents, SYS_sendmsg, SYS_sendto};
  return std::find(kNumbers.begin(), kNumbers.end(), nr) != kNumbers.end();
}

}  // namespace

Tracee::Outcome Tracee::Fail() {
  errno_ = errno;
  if (errno == ESRCH || errno == ECHILD) return Outcome::kGone;
  return errno == EPERM ? Outcome::kForbidden : Outcome::kError;
}

// The next stop of the thread: watched at first, since most stop within microseconds.
Tracee::Outcome Tracee::WaitStop(Clock::time_point deadline, int *status) {
  for (int turn = 0;; turn++) {
    pid_t got = waitpid(tid_, status, __WALL | WNOHANG);
    if (got == tid_) {
      if (WIFSTOPPED(*status)) return Outcome::kDone;
      seized_ = false;
      return Outcome::kGone;
    }
    if (got < 0 && errno != EINTR) return Fail();
    if (Clock::now() > deadline) return Outcome::kBusy;
    if (turn < 200) {
      sched_yield();
    } else {
      timespec nap{0, 50'000};
      nanosleep(&nap, nullptr);
    }
  }
}

Tracee::Outcome Tracee::Stop(Clock::time_point deadline) {
  if (Ptrace(PTRACE_SEIZE, tid_, 0, PTRACE_O_TRACESYSGOOD)) return Fail();
  seized_ = true;
  if (Ptrace(PTRACE_INTERRUPT, tid_, 0, 0)) return Fail();
  for (;;) {
    int status = 0;
    Outcome outcome = WaitStop(deadline, &status);
    if (outcome != Outcome::kDone) return outcome;
    if (EventOf(status) == kEventStop) {
      if (WSTOPSIG(status) != SIGTRAP) return Outcome::kBusy;  // job control: it should not run now
      return SaveState();
    }
    // A signal on its way to the thread, which comes first. Any stop takes back the one that was asked for.
    int sig = EventOf(status) == 0 && WSTOPSIG(status) != kSyscallStop ? WSTOPSIG(status) : 0;
    Ptrace(PTRACE_INTERRUPT, tid_, 0, 0);
    if (Ptrace(PTRACE_CONT, tid_, 0, sig)) return Fail();
  }
}

bool Tracee::ReadRegisters(user_regs_struct *regs) {
  iovec iov{regs, sizeof(*regs)};
  return Ptrace(PTRACE_GETREGSET, tid_, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&iov)) == 0 &&
         iov.iov_len == sizeof(*regs);
}

bool Tracee::WriteRegisters(const user_regs_struct &regs) {
  iovec iov{const_cast<user_regs_struct *>(&regs), sizeof(regs)};
  return Ptrace(PTRACE_SETREGSET, tid_, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&iov)) == 0;
}

Tracee::Outcome Tracee::SaveState() {
  errno = 0;
  if (!ReadRegisters(&regs_)) return errno ? Fail() : Outcome::k32Bit;
  if (regs_.cs != 0x33) return Outcome::k32Bit;
  xstate_.resize(kXstateMax);
  iovec iov{xstate_.data(), xstate_.size()};
  if (Ptrace(PTRACE_GETREGSET, tid_, NT_X86_XSTATE, reinterpret_cast<uintptr_t>(&iov))) return Fail();
  xstate_.resize(iov.iov_len);
  if (Ptrace(PTRACE_GETSIGMASK, tid_, sizeof(sigmask_), reinterpret_cast<uintptr_t>(&sigmask_)))
    return Fail();
  RseqConfiguration conf{};  // kernels before 5.13 do not tell; they have no membarrier for us either
  if (Ptrace(kGetRseqConfiguration, tid_, sizeof(conf), reinterpret_cast<uintptr_t>(&conf)) > 0 && conf.area)
    ReadMemory(pid_, conf.area + 8, &rseq_cs_, sizeof(rseq_cs_));
  return Outcome::kDone;
}

Tracee::Outcome Tracee::Call(uint64_t entry, uint64_t argument, Clock::time_point deadline, int *result) {
  const uint64_t all = ~uint64_t{0};
  if (remote_ && !WriteRemote()) return Fail();
  user_regs_struct regs = regs_;
  regs.rip = entry;
  regs.rdi = argument;
  regs.rsp = (regs_.rsp - 256) & ~uint64_t{15};
  regs.orig_rax = ~uint64_t{0};  // whatever system call it was in: the kernel must not restart that one now
  regs.eflags &= ~uint64_t{0x40500};  // TF, DF, AC
  // In this order: from now on the thread itself puts back what is changed, if this program should die.
  if (!WriteRegisters(regs)) return Fail();
  if (Ptrace(PTRACE_SETSIGMASK, tid_, sizeof(all), reinterpret_cast<uintptr_t>(&all))) return Fail();
  Outcome outcome = RunToEnd(deadline, result);
  if (outcome == Outcome::kGone || outcome == Outcome::kError) return outcome;
  Outcome put_back = Restore();
  return put_back == Outcome::kDone ? outcome : put_back;
}

// System call by system call, up to the one that ends the call.
Tracee::Outcome Tracee::RunToEnd(Clock::time_point deadline, int *result) {
  for (;;) {
    int status = 0;
    if (Clock::now() > deadline) {
      Outcome outcome = StopForRestore(Clock::now() + std::chrono::seconds(5));
      return outcome == Outcome::kDone ? Outcome::kStuck : outcome;
    }
    if (Ptrace(PTRACE_SYSCALL, tid_, 0, 0)) return Fail();
    Outcome outcome = WaitStop(deadline, &status);
    if (outcome == Outcome::kBusy) {  // it runs, or sleeps in a system call
      Ptrace(PTRACE_INTERRUPT, tid_, 0, 0);
      outcome = WaitForRestore(Clock::now() + std::chrono::seconds(5));
      return outcome == Outcome::kDone ? Outcome::kStuck : outcome;
    }
    if (outcome != Outcome::kDone) return outcome;
    if (EventOf(status) == kEventStop) continue;
    int sig = WSTOPSIG(status);
    if (sig == SIGSTOP) {
      resend_stop_ = true;
      continue;
    }
    if (sig != kSyscallStop) {
      if (IsFault(sig)) {
        outcome = StopForRestore(Clock::now() + std::chrono::seconds(5));
        return outcome == Outcome::kDone ? Outcome::kCrashed : outcome;
      }
      continue;
    }
    user_regs_struct regs{};
    if (!ReadRegisters(&regs)) return Fail();
    if (regs.orig_rax != SYS_getpid || regs.rdi != GKHI_REMOTE_DONE) continue;
    *result = static_cast<int>(regs.rsi);
    regs.orig_rax = ~uint64_t{0};
    if (!WriteRegisters(regs)) return Fail();
    return StopForRestore(Clock::now() + std::chrono::seconds(5));
  }
}

// From a stop to one on the way out of the kernel, where it will look at the restored registers for a system
// call to restart.
Tracee::Outcome Tracee::StopForRestore(Clock::time_point deadline) {
  Ptrace(PTRACE_INTERRUPT, tid_, 0, 0);
  Ptrace(PTRACE_CONT, tid_, 0, 0);
  return WaitForRestore(deadline);
}

// The stop that PTRACE_INTERRUPT asked of a thread that runs. To let it go before one was seen would lose it;
// and any other stop (the end of a system call) takes it back, so that it must be asked for again.
Tracee::Outcome Tracee::WaitForRestore(Clock::time_point deadline) {
  for (;;) {
    int status = 0;
    Outcome outcome = WaitStop(deadline, &status);
    if (outcome != Outcome::kDone) return outcome;
    if (EventOf(status) == kEventStop) return Outcome::kDone;
    if (WSTOPSIG(status) == SIGSTOP) resend_stop_ = true;
    Ptrace(PTRACE_INTERRUPT, tid_, 0, 0);
    Ptrace(PTRACE_CONT, tid_, 0, 0);
  }
}

// The registers last: up to then the thread would put itself back.
Tracee::Outcome Tracee::Restore() {
  const user_regs_struct regs = RestoredRegisters();
  iovec iov{xstate_.data(), xstate_.size()};
  if (Ptrace(PTRACE_SETREGSET, tid_, NT_X86_XSTATE, reinterpret_cast<uintptr_t>(&iov))) return Fail();
  if (Ptrace(PTRACE_SETSIGMASK, tid_, sizeof(sigmask_), reinterpret_cast<uintptr_t>(&sigmask_)))
    return Fail();
  if (!WriteRegisters(regs)) return Fail();
  ForgetRemote();
  return Outcome::kDone;
}

user_regs_struct Tracee::RestoredRegisters() const {
  user_regs_struct regs = regs_;
  LeaveSequence(&regs);
  RestartInterrupted(&regs);
  return regs;
}

bool Tracee::WriteRemote() const {
  gkhi_remote remote{};
  const user_regs_struct regs = RestoredRegisters();
  static_assert(sizeof(remote.regs) == sizeof(regs));
  remote.tid = static_cast<uint32_t>(tid_);
  remote.mask = sigmask_;
  std::memcpy(remote.regs, &regs, sizeof(regs));
  remote.xstate_size = xstate_.size();
  std::memcpy(remote.xstate, xstate_.data(), std::min(xstate_.size(), sizeof(remote.xstate)));
  return WriteMemory(pid_, remote_, &remote, sizeof(remote));
}

void Tracee::ForgetRemote() const {
  const uint32_t tid_and_taken[2] = {0, 0};
  if (remote_) WriteMemory(pid_, remote_, tid_and_taken, sizeof(tid_and_taken));
}

bool Tracee::IsInside(const gkhi_runtime_info &info) const {
  return (regs_.rip >= info.entry && regs_.rip < info.entry_end) ||
         (regs_.rsp > info.stack && regs_.rsp <= info.stack_end);
}

// By having run elsewhere the thread has left its restartable sequence, as by a preemption: it goes on at the
// abort handler.
void Tracee::LeaveSequence(user_regs_struct *regs) const {
  RseqSection section{};
  if (!rseq_cs_ || !ReadMemory(pid_, rseq_cs_, &section, sizeof(section))) return;
  if (regs->rip - section.start_ip < section.post_commit_offset) regs->rip = section.abort_ip;
}

// EINTR because of our stop alone, where no handler of the program is about to run.
void Tracee::RestartInterrupted(user_regs_struct *regs) const {
  if (static_cast<int64_t>(regs->orig_rax) < 0 || static_cast<int64_t>(regs->rax) != -EINTR) return;
  if (!IsRepeatable(regs->orig_rax)) return;
  SignalSets sets = ReadSignalSets(pid_, tid_);
  if (sets.pending & sets.caught & ~sigmask_) return;
  regs->rax = regs->orig_rax;
  regs->rip -= 2;
  regs->orig_rax = ~uint64_t{0};
}

void Tracee::Detach() {
  if (!seized_) return;
  if (Ptrace(PTRACE_DETACH, tid_, 0, 0) && errno == ESRCH) {
    // It runs still (a stop that never came): only a stopped tracee can be let go.
    Ptrace(PTRACE_INTERRUPT, tid_, 0, 0);
    int status = 0;
    if (WaitStop(Clock::now() + std::chrono::milliseconds(200), &status) == Outcome::kDone) {
      int sig = EventOf(status) == 0 ? WSTOPSIG(status) : 0;
      Ptrace(PTRACE_DETACH, tid_, 0, sig);
    }
  }
  seized_ = false;
  if (resend_stop_) kill(pid_, SIGSTOP);
}

}  // namespace gkhi
