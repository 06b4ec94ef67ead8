// SPDX-License-Identifier: MIT
// Output folders that never destroy anything but an older trace's backup.
#include "output_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace gkhi::cli {
namespace {

namespace fs = std::filesystem;

// Empty, or nothing in it but traces of ours, and folders of those that were never begun.
bool IsOurs(const std::string &dir) {
  std::error_code ec;
  if (fs::is_empty(dir, ec)) return true;
  if (fs::exists(dir + "/metadata", ec)) return true;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code inner;
    if (fs::exists(it->path() / "metadata", inner)) continue;
    if (!fs::is_directory(it->path(), inner) || !fs::is_empty(it->path(), inner)) return false;
  }
  return !ec;
}

Error Busy(const std::string &dir) {
  return Error{fmt::format("another gkhi writes a trace to {}", dir)};
}

// A trace that is in the way. @dir is locked.
Status KeepAsOld(const std::string &dir) {
  const std::string old = dir + ".old";
  std::error_code ec;
  if (fs::exists(old, ec)) {
    if (!IsOurs(old))
      return Error{fmt::format("{} holds other things than traces: cannot keep the older trace there", old)};
    Result<OutputLock> lock = OutputLock::Take(old);
    if (!lock) return Error{lock.error()};
    fs::remove_all(old, ec);
  }
  fs::rename(dir, old, ec);
  if (ec) return Error{fmt::format("cannot move {} to {}: {}", dir, old, ec.message())};
  return Done{};
}

}  // namespace

OutputLock::~OutputLock() {
  if (fd_ >= 0) close(fd_);
}

Result<OutputLock> OutputLock::Take(const std::string &dir) {
  OutputLock lock(open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat ours;
  struct stat there;
  if (lock.fd_ < 0 || fstat(lock.fd_, &ours) != 0)
    return Error{fmt::format("cannot open {}: {}", dir, strerror(errno))};
  // Another error than that it is taken: a file system without locks.
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return Busy(dir);
  // Moved away between the two.
  if (stat(dir.c_str(), &there) != 0 || there.st_ino != ours.st_ino || there.st_dev != ours.st_dev)
    return Busy(dir);
  return lock;
}

Result<OutputLock> PrepareOutput(const std::string &given) {
  const std::string dir = given.substr(0, given.find_last_not_of('/') + 1);
  if (dir.empty()) return Error{fmt::format("'{}': wanted a folder for the trace", given)};
  std::error_code ec;
  const fs::file_status status = fs::status(dir, ec);
  if (fs::exists(status)) {
    if (!fs::is_directory(status))
      return Error{fmt::format("{} is a file, wanted a folder for the trace", dir)};
    if (!IsOurs(dir))
      return Error{fmt::format("{} holds other things than traces, wanted a new folder", dir)};
    Result<OutputLock> lock = OutputLock::Take(dir);
    if (!lock || fs::is_empty(dir, ec)) return lock;
    Status kept = KeepAsOld(dir);
    if (!kept) return Error{kept.error()};
  }
  fs::create_directories(dir, ec);
  if (ec) return Error{fmt::format("cannot make {}: {}", dir, ec.message())};
  Result<OutputLock> lock = OutputLock::Take(dir);
  if (lock && !fs::is_empty(dir, ec)) return Busy(dir);  // it was faster, and has ended already
  return lock;
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
