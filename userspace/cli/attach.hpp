// SPDX-License-Identifier: MIT
// Makes a process call its own runtime, once, through ptrace: stop one thread, let it run struct
// gkhi_runtime_info.entry, put everything back, let it go. The program cannot tell: registers, vector state,
// signal mask and system calls go on.
#ifndef GKHI_CLI_ATTACH_HPP
#define GKHI_CLI_ATTACH_HPP

#include <gkhi/control.h>
#include <sys/types.h>

#include <chrono>
#include <gkhi/reader/result.hpp>
#include <optional>
#include <string>

namespace gkhi {

// Where a process keeps its runtime's struct gkhi_runtime_info: found by the note, in any mapped ELF object.
struct RuntimeAddress {
  uint64_t info = 0;
  gkhi_runtime_info copy{};
};

// Error: no such process, not ours to read, 32-bit, or no runtime in it.
Result<RuntimeAddress> FindRuntime(pid_t pid);

// Why ptrace cannot or should not be used on `pid`, with what to do instead; nothing: go ahead.
std::optional<std::string> WhyNotAttach(pid_t pid);

struct RemoteReply {
  int result = 0;     // 0 or -errno, as the process answered
  std::string dir;    // GKHI_OP_OPEN: its directory as the process names it (its own mount namespace)
  std::string error;  // GKHI_OP_OPEN with result != 0: why
};

// Runs `op` in `pid`; tries again, with other threads too, while the answer is -EAGAIN and `timeout` has not
// passed.
Result<RemoteReply> RemoteCall(pid_t pid, gkhi_remote_op op,
                               std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace gkhi

#endif
