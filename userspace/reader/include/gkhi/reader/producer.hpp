// SPDX-License-Identifier: MIT
// The directory of one traced process (gkhi/control.h), alive or dead: what it is, its metadata, its rings.
#ifndef GKHI_READER_PRODUCER_HPP
#define GKHI_READER_PRODUCER_HPP

#include <gkhi/control.h>
#include <gkhi/reader/metadata.hpp>
#include <gkhi/reader/ring_file.hpp>

#include <string>
#include <vector>

namespace gkhi::reader {

class Producer {
 public:
  static Result<Producer> Open(const std::string &dir);

  const std::string &dir() const { return dir_; }
  // Live memory of the process: it changes.
  const gkhi_control &control() const { return *reinterpret_cast<const gkhi_control *>(control_.data()); }
  uint32_t pid() const { return control().pid; }
  std::string comm() const;
  ClockKind clock_kind() const {
    return control().clock == GKHI_CLOCK_TSC ? ClockKind::kTsc : ClockKind::kMonotonic;
  }
  // Its memory is gone: nobody writes to its rings any more.
  bool ended() const;

  // Files <channel>.ring, sorted, as paths.
  std::vector<std::string> RingPaths() const;
  // The event blocks that count by now.
  Result<std::string> EventBlocks() const;
  // Events lost by all hooks outside of rings, so far.
  uint64_t Unrouted() const;
  // Operands of markers that could not be read, so far: recorded as 0 or "(fault)".
  uint64_t Faults() const;
  TraceHead Head(const ClockRecord &clock) const;
  // "<comm>-<pid>", fit for a file name.
  std::string TraceName() const;

 private:
  uint64_t Sum(uint64_t gkhi_control_hook::*counter) const;

  std::string dir_;
  MappedFile control_;
};

}  // namespace gkhi::reader

#endif
