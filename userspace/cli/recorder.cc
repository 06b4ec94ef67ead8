// SPDX-License-Identifier: MIT
// The consumer's loop body, and waiting for many futexes at once.
#include "recorder.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <thread>

namespace gkhi::cli {
namespace {

constexpr size_t kMaxWaits = 128;  // the kernel's FUTEX_WAITV_MAX
constexpr uint32_t kFutex32 = 2;   // FUTEX_32, shared

// struct futex_waitv of linux/futex.h since 5.16.
struct FutexWait {
  uint64_t value;
  uint64_t address;
  uint32_t flags;
  uint32_t reserved;
};

// ENOSYS on kernels before 5.16.
long WaitAny(std::vector<FutexWait> *waits, std::chrono::milliseconds limit) {
#ifdef SYS_futex_waitv
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += limit.count() * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return syscall(SYS_futex_waitv, waits->data(), waits->size(), 0, &until, CLOCK_MONOTONIC);
#else
  (void)waits;
  (void)limit;
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace

bool Recorder::Add(const std::string &process_dir, const std::string &channel) {
  Result<reader::Producer> producer = reader::Producer::Open(process_dir);
  if (!producer) return false;
  Result<reader::ClockRecord> clock = ClockOf(*producer);
  if (!clock) {
    if (refused_.insert(process_dir).second) problems_.push_back(clock.error());
    return false;
  }
  const std::string name = names_.Next(*producer);
  Result<std::unique_ptr<reader::TraceWriter>> writer =
      reader::TraceWriter::Create(std::move(*producer), *clock, name);
  if (!writer) {
    if (refused_.insert(process_dir).second) problems_.push_back(writer.error());
    return false;
  }
  known_.insert(process_dir);
  Source source{std::move(*writer), channel, 0};
  if (!channel.empty()) {
    source.writer->CountFromNow();
    source.faults = source.writer->producer().Faults();
  }
  source.writer->Refresh(true, channel);
  sources_.emplace(process_dir, std::move(source));
  return true;
}

Result<uint64_t> Recorder::Drain() {
  uint64_t packets = 0;
  for (auto &[dir, source] : sources_) {
    source.writer->Refresh(true, source.channel);
    Result<uint64_t> drained = source.writer->Drain();
    if (!drained) return drained;
    packets += *drained;
  }
  if (kernel_ == nullptr) return packets;
  Result<uint64_t> drained = kernel_->Drain();
  if (!drained) return drained;
  return packets + *drained;
}

void Recorder::Wait(std::chrono::milliseconds limit) {
  std::vector<FutexWait> waits;
  for (auto &[dir, source] : sources_) {
    for (const reader::ReadyWord &ready : source.writer->ready_words()) {
      if (waits.size() == kMaxWaits) break;
      waits.push_back({ready.seen, reinterpret_cast<uintptr_t>(ready.word), kFutex32, 0});
    }
  }
  if (!waits.empty() && (WaitAny(&waits, limit) >= 0 || errno != ENOSYS)) return;
  std::this_thread::sleep_for(std::min(limit, std::chrono::milliseconds(waits.empty() ? 10 : 1)));
}

Status Recorder::Finish(Source *source) {
  source->writer->Refresh(true, source->channel);
  Status status = source->writer->Finish();
  if (!status) return status;
  const reader::WriterTotals totals = source->writer->totals();
  finished_.Add(totals);
  faults_ += source->writer->producer().Faults() - source->faults;
  if (totals.events == 0 && totals.lost() == 0) empty_dirs_.push_back(source->writer->dir());
  const std::vector<std::string> &problems = source->writer->problems();
  problems_.insert(problems_.end(), problems.begin(), problems.end());
  return Done{};
}

Result<std::vector<std::string>> Recorder::FinishEnded() {
  std::vector<std::string> ended;
  for (auto it = sources_.begin(); it != sources_.end();) {
    if (!it->second.writer->producer().ended()) {
      ++it;
      continue;
    }
    Status status = Finish(&it->second);
    if (!status) return Error{status.error()};
    ended.push_back(it->first);
    it = sources_.erase(it);
  }
  return ended;
}

Status Recorder::FinishAll() {
  for (auto &[dir, source] : sources_) {
    Status status = Finish(&source);
    if (!status) return status;
  }
  sources_.clear();
  if (kernel_ == nullptr) return Done{};
  Status status = kernel_->Finish();
  problems_.insert(problems_.end(), kernel_->problems().begin(), kernel_->problems().end());
  return status;
}

void Recorder::RemoveEmpty() {
  for (const std::string &dir : empty_dirs_) {
    if (processes() <= 1 && kernel_ == nullptr) return;
    std::error_code ec;
    std::filesystem::remove_all(dir, ec);
    empty_++;
  }
}

reader::WriterTotals Recorder::totals() const {
  reader::WriterTotals totals = finished_;
  for (const auto &[dir, source] : sources_) totals.Add(source.writer->totals());
  if (kernel_ != nullptr) totals.Add(kernel_->totals());
  return totals;
}

uint64_t Recorder::EventsFired() const {
  uint64_t events = finished_.events;
  for (const auto &[dir, source] : sources_) events += source.writer->EventsFired();
  if (kernel_ != nullptr) events += kernel_->EventsFired();
  return events;
}

}  // namespace gkhi::cli
