// SPDX-License-Identifier: MIT
// Makes and removes the folder of a recording.
#include "session.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <gkhi/reader/clock.hpp>

#include "request.hpp"

namespace gkhi::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "record-";

Status MakePrivate(const std::string &path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return Done{};
  return Error{fmt::format("cannot make {}: {}", path, strerror(errno))};
}

// The boot's clock record, beside the processes that will need it. Which of the two kinds they use, they
// decide.
Status CopyClock(const std::string &base, const std::string &path) {
  for (const reader::ClockKind kind : {reader::ClockKind::kTsc, reader::ClockKind::kMonotonic}) {
    Result<reader::ClockRecord> clock = reader::BootClock(base, kind);
    if (!clock) return Error{clock.error()};
    const char *name = kind == reader::ClockKind::kTsc ? "/clock" : "/clock-monotonic";
    std::error_code ec;
    fs::copy_file(base + name, path + name, ec);
    if (ec) return Error{fmt::format("cannot copy {}{}: {}", base, name, ec.message())};
  }
  return Done{};
}

}  // namespace

Result<Session> Session::Create() {
  Session session;
  session.base_ = RuntimeFolders()[0];
  Status status = MakePrivate(session.base_);
  if (!status) return Error{status.error()};
  session.path_ = fmt::format("{}/{}{}", session.base_, kPrefix, getpid());
  std::error_code ec;
  fs::remove_all(session.path_, ec);  // of a gkhi that was killed and had our pid
  status = MakePrivate(session.path_);
  if (status) status = CopyClock(session.base_, session.path_);
  if (!status) return Error{status.error()};
  return session;
}

Session::~Session() {
  if (path_.empty()) return;
  for (const std::string &process : Processes()) Remove(process);
  std::error_code ec;
  fs::remove_all(path_, ec);
}

std::vector<std::string> Session::Processes() const {
  std::vector<std::string> processes;
  std::error_code ec;
  for (fs::directory_iterator it(path_, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code inner;
    if (fs::exists(it->path() / "control", inner)) processes.push_back(it->path());
  }
  return processes;
}

void Session::Link(const std::string &process) const {
  const std::string link = base_ + "/" + fs::path(process).filename().string();
  // No link, no listing: nothing that a recording depends on.
  if (symlink(process.c_str(), link.c_str()) != 0) return;
}

void Session::Remove(const std::string &process) const {
  std::error_code ec;
  const fs::path link = fs::path(base_) / fs::path(process).filename();
  if (fs::is_symlink(link, ec)) fs::remove(link, ec);
  fs::remove_all(process, ec);
}

std::vector<std::string> DeadSessions() {
  std::vector<std::string> sessions;
  for (const std::string &folder : RuntimeFolders()) {
    std::error_code ec;
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
      const std::string name = it->path().filename();
      if (name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
      const pid_t pid = static_cast<pid_t>(std::strtol(name.c_str() + kPrefix.size(), nullptr, 10));
      if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) sessions.push_back(it->path());
    }
  }
  return sessions;
}

}  // namespace gkhi::cli
