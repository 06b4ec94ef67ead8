// SPDX-License-Identifier: MIT
// One thread of another process, stopped with ptrace and put back as it was.
//
//   what may happen meanwhile        what is done
//   a signal for the thread          blocked in the kernel (PTRACE_SETSIGMASK), delivered when the mask is
//   put back SIGSTOP                          suppressed, sent again at the end it was inside a system call
//   the kernel restarts it: the final stop is one where it looks at orig_rax it was inside a rseq section the
//   restored ip is the section's abort handler it dies                          Outcome::kGone this program
//   dies                the thread puts itself back from struct gkhi_remote (a SIGSTOP is lost)
#ifndef GKHI_CLI_TRACEE_HPP
#define GKHI_CLI_TRACEE_HPP

#include <gkhi/control.h>
#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace gkhi {

class Tracee {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Outcome {
    kDone,
    kGone,       // the thread or the process has ended
    kBusy,       // did not stop in time, or stopped by job control: try another
    kForbidden,  // ptrace said EPERM
    k32Bit,
    kCrashed,  // the runtime raised a fatal signal; everything was put back
    kStuck,    // the call did not end in time; everything was put back
    kError,    // errno in Errno()
  };

  Tracee(pid_t pid, pid_t tid) : pid_(pid), tid_(tid) {}
  ~Tracee() { Detach(); }
  Tracee(const Tracee &) = delete;
  Tracee &operator=(const Tracee &) = delete;

  // Where the thread finds what puts it back when this program dies. The caller holds the lock of it.
  void SetRemote(uint64_t address) { remote_ = address; }
  // Stops the thread and saves what a call changes.
  Outcome Stop(Clock::time_point deadline);
  // Lets it run entry(argument) up to the system call that ends the call; then puts everything back.
  Outcome Call(uint64_t entry, uint64_t argument, Clock::time_point deadline, int *result);
  // Where it is stopped: inside of a call that another program has left to it?
  bool IsInside(const gkhi_runtime_info &info) const;
  // Lets it go. Nothing to do when it is gone.
  void Detach();

  int Errno() const { return errno_; }

 private:
  Outcome Fail();
  Outcome WaitStop(Clock::time_point deadline, int *status);
  Outcome SaveState();
  Outcome RunToEnd(Clock::time_point deadline, int *result);
  Outcome StopForRestore(Clock::time_point deadline);
  Outcome WaitForRestore(Clock::time_point deadline);
  Outcome Restore();
  user_regs_struct RestoredRegisters() const;
  bool WriteRemote() const;
  void ForgetRemote() const;
  bool ReadRegisters(user_regs_struct *regs);
  bool WriteRegisters(const user_regs_struct &regs);
  void LeaveSequence(user_regs_struct *regs) const;
  void RestartInterrupted(user_regs_struct *regs) const;

  pid_t pid_;
  pid_t tid_;
  bool seized_ = false;
  bool resend_stop_ = false;
  int errno_ = 0;
  uint64_t remote_ = 0;
  user_regs_struct regs_{};
  std::vector<std::byte> xstate_;
  uint64_t sigmask_ = 0;
  uint64_t rseq_cs_ = 0;  // of the sequence it was in, maybe; read before the kernel clears it
};

}  // namespace gkhi

#endif
