// SPDX-License-Identifier: MIT
// Consumes the rings of many processes, and a channel of the kernel, into one output folder while they run.
#ifndef GKHI_CLI_RECORDER_HPP
#define GKHI_CLI_RECORDER_HPP

#include <chrono>
#include <gkhi/reader/kernel_writer.hpp>
#include <gkhi/reader/trace_writer.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "output_dir.hpp"
#include "progress.hpp"

namespace gkhi::cli {

class Recorder {
 public:
  explicit Recorder(const std::string &output) : names_(output) {}

  // A process is recorded from now on: all its rings, or those of one channel. False: not yet readable, ask
  // again.
  bool Add(const std::string &process_dir, const std::string &channel = "");
  // The kernel is recorded, too.
  void AddKernel(std::unique_ptr<reader::KernelWriter> kernel) { kernel_ = std::move(kernel); }
  bool Knows(const std::string &process_dir) const { return known_.count(process_dir) != 0; }

  // One round: what is finished goes to disk. Returns the number of packets; an error is one of the output's.
  Result<uint64_t> Drain();
  // Waits until a packet is finished somewhere, or until @limit.
  void Wait(std::chrono::milliseconds limit);
  // Processes that are gone: the rest of their buffers is written. Returns their folders.
  Result<std::vector<std::string>> FinishEnded();
  // All that are left, running or not.
  Status FinishAll();
  // After FinishAll(): takes away traces of processes with nothing in them, as long as another is there.
  void RemoveEmpty();

  reader::WriterTotals totals() const;
  uint64_t EventsFired() const;
  // Operands that could not be read meanwhile, of all that are finished.
  uint64_t faults() const { return faults_; }
  size_t processes() const { return known_.size() - empty_; }
  Sources sources() const { return {processes(), kernel_ != nullptr}; }
  const std::vector<std::string> &problems() const { return problems_; }

 private:
  struct Source {
    std::unique_ptr<reader::TraceWriter> writer;
    std::string channel;
    uint64_t faults;  // of before
  };
  Status Finish(Source *source);

  OutputNames names_;
  std::unique_ptr<reader::KernelWriter> kernel_;
  std::map<std::string, Source> sources_;  // by folder of the process
  std::set<std::string> known_;
  std::set<std::string> refused_;  // told once
  std::vector<std::string> empty_dirs_;
  size_t empty_ = 0;
  reader::WriterTotals finished_;
  uint64_t faults_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace gkhi::cli

#endif
