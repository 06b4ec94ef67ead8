// SPDX-License-Identifier: MIT
// Output folders that never destroy anything but an older trace's backup.
#include "output_dir.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

namespace gkhi::cli {
namespace {

namespace fs = std::filesystem;

// Empty, or nothing in it but traces of ours.
bool IsOurs(const std::string &dir) {
  std::error_code ec;
  if (fs::is_empty(dir, ec)) return true;
  if (fs::exists(dir + "/metadata", ec)) return true;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code inner;
    if (!fs::exists(it->path() / "metadata", inner)) return false;
  }
  return !ec;
}

}  // namespace

Status PrepareOutput(const std::string &dir) {
  std::error_code ec;
  const fs::file_status status = fs::status(dir, ec);
  if (fs::exists(status)) {
    if (!fs::is_directory(status))
      return Error{fmt::format("{} is a file, wanted a folder for the trace", dir)};
    if (!IsOurs(dir))
      return Error{fmt::format("{} holds other things than traces, wanted a new folder", dir)};
    const std::string old = dir + ".old";
    if (fs::exists(old, ec) && !IsOurs(old)) {
      return Error{fmt::format("{} holds other things than traces: cannot keep the older trace there", old)};
    }
    fs::remove_all(old, ec);
    if (!fs::is_empty(dir, ec)) fs::rename(dir, old, ec);
    if (ec) return Error{fmt::format("cannot move {} to {}: {}", dir, old, ec.message())};
  }
  fs::create_directories(dir, ec);
  if (ec) return Error{fmt::format("cannot make {}: {}", dir, ec.message())};
  return Done{};
}

std::string OutputNames::Next(const reader::Producer &producer) {
  const std::string base = producer.TraceName();
  std::string name = base;
  for (int n = 1; !taken_.insert(name).second; n++) name = fmt::format("{}.{}", base, n);
  return dir_ + "/" + name;
}

Result<reader::ClockRecord> ClockOf(const reader::Producer &producer) {
  const std::string folder = fs::path(producer.dir()).lexically_normal().parent_path().string();
  const reader::TraceHead head = producer.Head({});
  if (head.env.boot_id.empty() || head.env.boot_id == reader::BootId()) {
    return reader::BootClock(folder.empty() ? "." : folder, producer.clock_kind());
  }
  const std::string path =
      folder + (producer.clock_kind() == reader::ClockKind::kTsc ? "/clock" : "/clock-monotonic");
  Result<std::string> text = reader::ReadFile(path);
  if (!text)
    return Error{
        fmt::format("{} is of an earlier boot ({}), and {}", producer.dir(), head.env.boot_id, text.error())};
  Result<reader::ClockRecord> clock = reader::ParseClock(*text);
  if (clock && clock->boot_id != head.env.boot_id) {
    return Error{fmt::format("{} is of boot {}, {} of boot {}", producer.dir(), head.env.boot_id, path,
                             clock->boot_id)};
  }
  return clock;
}

}  // namespace gkhi::cli
