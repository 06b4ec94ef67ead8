// SPDX-License-Identifier: MIT
// The requester's half of gkhi/control.h: find the directory of a process (or have it made), read its tables,
// run batches.
#ifndef GKHI_CLI_REQUEST_HPP
#define GKHI_CLI_REQUEST_HPP

#include <gkhi/control.h>
#include <sys/types.h>

#include <chrono>
#include <gkhi/reader/result.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gkhi {

// One "<pid>-<starttime>[.n]" directory of this user.
struct ProcessDirectory {
  std::string path;
  pid_t pid = 0;
  uint64_t starttime = 0;
  uint32_t image = 0;  // the n: counts the programs that traced under this pid, over exec
  bool alive = false;  // the very program that made it runs still
};

// The folders where directories are looked for: $GKHI_DIR, else $XDG_RUNTIME_DIR/gkhi and
// /dev/shm/gkhi-<uid>.
std::vector<std::string> RuntimeFolders();

// All of them, by pid, then image; unreadable and foreign ones are left out.
std::vector<ProcessDirectory> ListProcesses();

// The mapped control file of one process, alive or dead.
class Process {
 public:
  // By directory; for dead processes and for listings.
  static Result<Process> OpenDirectory(const std::string &path);
  // By pid, the newest image; error when it has no directory (nobody asked for tracing there yet).
  static Result<Process> Find(pid_t pid);
  // The same, and a live process that has none is made to make one, by a remote call.
  static Result<Process> Open(pid_t pid, std::chrono::milliseconds timeout = std::chrono::seconds(5));

  Process(Process &&) noexcept;
  Process &operator=(Process &&) noexcept;
  ~Process();

  const std::string &dir() const;
  const gkhi_control &control() const;  // live memory of the process: it changes
  bool Alive() const;

  // A copy of the hook table as it is now (maps again when it has grown); entries in order of registration.
  Result<std::vector<gkhi_control_hook>> Hooks();

  // Runs a batch (docs/control.md) and waits. The reply is what was done; an error is what the process
  // answered (with column and caret), or why it could not be asked. With an agent thread no ptrace is needed;
  // a process that polls is waited for; otherwise a remote call. One that is still starting, and has no hooks
  // yet, is asked again when it has some, for at most a second.
  Result<std::string> Run(std::string_view batch,
                          std::chrono::milliseconds timeout = std::chrono::seconds(5));

 private:
  struct Impl;
  explicit Process(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gkhi

#endif
