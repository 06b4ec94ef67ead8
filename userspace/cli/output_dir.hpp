// SPDX-License-Identifier: MIT
// Where traces go, and the clock they carry.
#ifndef GKHI_CLI_OUTPUT_DIR_HPP
#define GKHI_CLI_OUTPUT_DIR_HPP

#include <gkhi/reader/producer.hpp>

#include <set>
#include <string>
#include <utility>

namespace gkhi::cli {

constexpr const char *kDefaultOutput = "gkhi.trace";

// A folder that a trace is written to: no other gkhi writes there or moves it away while this lives.
class OutputLock {
 public:
  explicit OutputLock(int fd) : fd_(fd) {}
  OutputLock(OutputLock &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OutputLock &operator=(OutputLock &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OutputLock();

  static Result<OutputLock> Take(const std::string &dir);

 private:
  int fd_;
};

// Makes @dir, for this gkhi alone. A trace that is there already becomes @dir.old, as perf does with its
// file; anything else is not touched.
Result<OutputLock> PrepareOutput(const std::string &dir);

// Folder names inside one output: "<comm>-<pid>", and ".1", ".2" when there are several of them.
class OutputNames {
 public:
  explicit OutputNames(std::string dir) : dir_(std::move(dir)) {}
  std::string Next(const reader::Producer &producer);

 private:
  std::string dir_;
  std::set<std::string> taken_;
};

// The clock record of the producer's boot: from the folder it lies in; measured and published there for this
// boot.
Result<reader::ClockRecord> ClockOf(const reader::Producer &producer);

}  // namespace gkhi::cli

#endif
