// SPDX-License-Identifier: MIT
// Measures the clock once per boot and publishes the record, so that every trace of that boot uses the same
// one.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <gkhi/reader/clock.hpp>
#include <gkhi/reader/mapped_file.hpp>

namespace gkhi::reader {
namespace {

constexpr int64_t kSecond = 1000000000;
// s * 10^9 below must fit 64 bits: r < frequency.
constexpr uint64_t kMaxFrequency = 18000000000;
constexpr std::string_view kMagic = "gkhi-clock 1";

int64_t Now(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return ts.tv_sec * kSecond + ts.tv_nsec;
}

uint64_t Ticks(ClockKind kind) {
  return kind == ClockKind::kTsc ? __rdtsc() : static_cast<uint64_t>(Now(CLOCK_MONOTONIC));
}

struct Pair {
  uint64_t ticks = 0;
  int64_t ns = 0;
};

// The tightest of some readings of @id between two of the ticks: a thread that is switched away only widens
// the others.
Pair Sample(ClockKind kind, clockid_t id) {
  Pair best;
  uint64_t width = UINT64_MAX;
  for (int i = 0; i < 200; i++) {
    const uint64_t before = Ticks(kind);
    const int64_t ns = Now(id);
    const uint64_t after = Ticks(kind);
    if (after - before < width) {
      width = after - before;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

ClockRecord Measure(ClockKind kind) {
  ClockRecord clock;
  clock.kind = kind;
  clock.boot_id = BootId();
  if (kind == ClockKind::kTsc) {
    // CLOCK_MONOTONIC_RAW is the same counter, never slewed: 100 ms give about 0.3 ppm, and what is left is
    // absorbed by the offsets at the moment of measuring.
    const Pair a = Sample(kind, CLOCK_MONOTONIC_RAW);
    usleep(100000);
    const Pair b = Sample(kind, CLOCK_MONOTONIC_RAW);
    const auto scaled = static_cast<unsigned __int128>(b.ticks - a.ticks) * kSecond;
    clock.frequency = static_cast<uint64_t>((scaled + (b.ns - a.ns) / 2) / (b.ns - a.ns));
  }
  const Pair real = Sample(kind, CLOCK_REALTIME);
  clock.realtime_offset = real.ns - clock.ToNs(real.ticks);
  if (kind == ClockKind::kTsc) {
    const Pair mono = Sample(kind, CLOCK_MONOTONIC);
    clock.monotonic_offset = mono.ns - clock.ToNs(mono.ticks);
  }
  return clock;
}

template <typename T>
bool ParseNumber(std::string_view text, T *out) {
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return ec == std::errc() && end == text.data() + text.size();
}

bool ParseLine(std::string_view key, std::string_view value, ClockRecord *clock) {
  if (key == "kind") {
    clock->kind = value == "tsc" ? ClockKind::kTsc : ClockKind::kMonotonic;
    return value == "tsc" || value == "monotonic";
  }
  if (key == "boot_id") {
    clock->boot_id = value;
    return value.size() == 36;
  }
  if (key == "frequency") {
    return ParseNumber(value, &clock->frequency) && clock->frequency > 0 && clock->frequency <= kMaxFrequency;
  }
  if (key == "realtime_offset") return ParseNumber(value, &clock->realtime_offset);
  if (key == "monotonic_offset") return ParseNumber(value, &clock->monotonic_offset);
  return true;  // of a later version
}

// A new file beside @path with @text, complete on disk before it gets its name. "" on failure, errno says
// why.
std::string WriteTemporary(const std::string &path, const std::string &text) {
  std::string name = fmt::format("{}.{}.{}", path, getpid(), Now(CLOCK_MONOTONIC));
  const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return {};
  const bool good = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(fd);
  if (good) return name;
  unlink(name.c_str());
  errno = error;
  return {};
}

Result<ClockRecord> ReadOrMeasure(const std::string &path, ClockKind kind) {
  if (Result<std::string> text = ReadFile(path)) {
    Result<ClockRecord> clock = ParseClock(*text);
    if (clock && clock->boot_id == BootId() && clock->kind == kind) return clock;
  }
  const ClockRecord mine = Measure(kind);
  const std::string temporary = WriteTemporary(path, FormatClock(mine));
  if (temporary.empty() || rename(temporary.c_str(), path.c_str()) != 0) {
    return Error{fmt::format("cannot write {}: {}", path, strerror(errno))};
  }
  return mine;
}

}  // namespace

int64_t ClockRecord::ToNs(uint64_t ticks) const {
  const uint64_t seconds = ticks / frequency;
  return static_cast<int64_t>(seconds * kSecond + ticks % frequency * kSecond / frequency);
}

std::string FormatClock(const ClockRecord &clock) {
  return fmt::format("{}\nkind={}\nboot_id={}\nfrequency={}\nrealtime_offset={}\nmonotonic_offset={}\n",
                     kMagic, clock.kind == ClockKind::kTsc ? "tsc" : "monotonic", clock.boot_id,
                     clock.frequency, clock.realtime_offset, clock.monotonic_offset);
}

Result<ClockRecord> ParseClock(std::string_view text) {
  ClockRecord clock;
  int line_number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (++line_number == 1) {
      if (line != kMagic)
        return Error{fmt::format("clock: line 1: found \"{}\", wanted \"{}\"", line, kMagic)};
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == line.npos || !ParseLine(line.substr(0, equals), line.substr(equals + 1), &clock)) {
      return Error{fmt::format("clock: line {}: found \"{}\", wanted KEY=VALUE as in docs/format-trace.md",
                               line_number, line)};
    }
  }
  if (clock.boot_id.empty()) return Error{"clock: no boot_id"};
  return clock;
}

std::string BootId() {
  Result<std::string> text = ReadFile("/proc/sys/kernel/random/boot_id");
  return text && text->size() >= 36 ? text->substr(0, 36) : "00000000-0000-0000-0000-000000000000";
}

uint64_t ClockNow(ClockKind kind) {
  return Ticks(kind);
}

Result<ClockRecord> BootClock(const std::string &dir, ClockKind kind) {
  const std::string path = dir + (kind == ClockKind::kTsc ? "/clock" : "/clock-monotonic");
  // Under a lock on the directory: two that start together use one measurement.
  const int lock = open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) return Error{fmt::format("cannot open {}: {}", dir, strerror(errno))};
  flock(lock, LOCK_EX);
  Result<ClockRecord> clock = ReadOrMeasure(path, kind);
  close(lock);
  return clock;
}

}  // namespace gkhi::reader
