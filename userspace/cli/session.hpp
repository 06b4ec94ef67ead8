// SPDX-License-Identifier: MIT
// One recording's folder: the processes it starts keep their buffers there, so that it knows which are its
// own.
//
//   <runtime folder>/record-<pid of gkhi>/        GKHI_DIR of the command
//     clock                                       a copy: one record per boot
//     <pid>-<starttime>[.n]/                      made by the processes
//   <runtime folder>/<pid>-<starttime>[.n]        a link, so that `gkhi list` sees them too
#ifndef GKHI_CLI_SESSION_HPP
#define GKHI_CLI_SESSION_HPP

#include <gkhi/reader/result.hpp>

#include <string>
#include <vector>

namespace gkhi::cli {

class Session {
 public:
  static Result<Session> Create();
  Session(Session &&other) noexcept { std::swap(base_, other.base_), std::swap(path_, other.path_); }
  Session &operator=(Session &&other) noexcept {
    std::swap(base_, other.base_), std::swap(path_, other.path_);
    return *this;
  }
  // Takes the folder and its links away, with whatever is in it.
  ~Session();

  const std::string &path() const { return path_; }
  // Folders of processes in it.
  std::vector<std::string> Processes() const;
  void Link(const std::string &process) const;
  void Remove(const std::string &process) const;

 private:
  Session() = default;
  std::string base_;
  std::string path_;
};

// Folders of recordings whose gkhi no longer runs.
std::vector<std::string> DeadSessions();

}  // namespace gkhi::cli

#endif
