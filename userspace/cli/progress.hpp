// SPDX-License-Identifier: MIT
// One line on the terminal that says how it goes, and the sentence at the end.
#ifndef GKHI_CLI_PROGRESS_HPP
#define GKHI_CLI_PROGRESS_HPP

#include <chrono>
#include <gkhi/reader/trace_writer.hpp>
#include <string>

namespace gkhi::cli {

// "12.3 MiB"
std::string BytesText(uint64_t bytes);
// Who was recorded.
struct Sources {
  size_t processes = 0;
  bool kernel = false;
};
// "2 processes", "the kernel and 1 process"
std::string SourcesText(const Sources &sources);
// "1234 events from 2 processes, no event lost, 12.3 MiB", or "..., LOST 5 events: 3 discarded ..., 2
// overwritten ..."
std::string TotalsText(const reader::WriterTotals &totals, const Sources &sources);

// Rewrites one line of stderr a few times a second; does nothing when stderr is no terminal.
class Progress {
 public:
  Progress();
  void Show(uint64_t events_fired, const reader::WriterTotals &totals, const Sources &sources);
  // Takes the line away.
  void Clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
  uint64_t last_events_ = 0;
};

}  // namespace gkhi::cli

#endif
