// SPDX-License-Identifier: MIT
// Starts the command of `gkhi record` with hooks on, and passes signals and its exit status through.
#ifndef GKHI_CLI_LAUNCH_HPP
#define GKHI_CLI_LAUNCH_HPP

#include <sys/types.h>

#include <gkhi/reader/result.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gkhi::cli {

// Blocks the signals that Child::Poll() takes. Before anything is started.
class SignalTaker {
 public:
  SignalTaker();
  ~SignalTaker();
  // The next signal that came, with whether a process sent it (not the terminal); nothing: none.
  struct Taken {
    int number;
    bool from_process;
  };
  std::optional<Taken> Next();

 private:
  int fd_ = -1;
};

struct Environment {
  std::string gkhi;     // GKHI
  std::string dir;      // GKHI_DIR
  std::string preload;  // put in front of LD_PRELOAD; "": leave it
};

class Child {
 public:
  // exit_code of an error: 127 when there is no such command, 126 when it cannot be run.
  static Result<Child> Start(const std::vector<std::string> &command, const Environment &environment,
                             int *exit_code);

  pid_t pid() const { return pid_; }
  // Ended? Then exit_code() is what a shell would say: the status, or 128 + the signal.
  bool Poll();
  int exit_code() const { return exit_code_; }
  void Signal(int number) const;

 private:
  pid_t pid_ = 0;
  bool ended_ = false;
  int exit_code_ = 0;
};

// The library to preload for @program: "" when it brings the runtime itself, or when there is none to be
// found (generated code then asks the loader for it by name).
std::string PreloadFor(const std::string &program);

}  // namespace gkhi::cli

#endif
