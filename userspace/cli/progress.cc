// SPDX-License-Identifier: MIT
// Progress and totals in words.
#include "progress.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>

namespace gkhi::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(250);

std::string RateText(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.1f} k/s", per_second / 1e3);
  return fmt::format("{:.0f}/s", per_second);
}

}  // namespace

std::string BytesText(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  if (bytes < 1 << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  if (bytes < 1 << 30) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string SourcesText(const Sources &sources) {
  const std::string processes =
      fmt::format("{} process{}", sources.processes, sources.processes == 1 ? "" : "es");
  if (!sources.kernel) return processes;
  return sources.processes == 0 ? "the kernel" : fmt::format("the kernel and {}", processes);
}

std::string TotalsText(const reader::WriterTotals &totals, const Sources &sources) {
  reader::Loss loss;
  loss.discarded = totals.discarded;
  loss.overwritten = totals.overwritten;
  return fmt::format("{} event{} from {}, {}, {}", totals.events, totals.events == 1 ? "" : "s",
                     SourcesText(sources), reader::LossText(loss), BytesText(totals.bytes));
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0), last_(std::chrono::steady_clock::now()) {}

void Progress::Show(uint64_t events_fired, const reader::WriterTotals &totals, const Sources &sources) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kInterval) return;
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const double rate = static_cast<double>(events_fired - std::min(last_events_, events_fired)) / seconds;
  last_ = now;
  last_events_ = events_fired;
  shown_ = true;
  fmt::print(stderr, "\r\033[K{} event{}, {}, {} lost, {}, {}", events_fired, events_fired == 1 ? "" : "s",
             RateText(rate), totals.lost(), BytesText(totals.bytes), SourcesText(sources));
  fflush(stderr);
}

void Progress::Clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace gkhi::cli
