// SPDX-License-Identifier: MIT
// Talks to gkhi.ko.
#include "kernel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gkhi/abi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <gkhi/reader/mapped_file.hpp>

#include "batch_text.hpp"
#include "command.hpp"
#include "request.hpp"

namespace gkhi::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kControl = "/dev/gkhi/control";
constexpr const char *kEvents = "/sys/kernel/gkhi/events";
constexpr const char *kChannels = "/sys/kernel/gkhi/channels";

std::string WhyNot(const std::string &path) {
  if (errno == ENOENT) return fmt::format("no {}: gkhi.ko is not loaded", path);
  if (errno == EACCES || errno == EPERM) return fmt::format("{}: the kernel's hooks are root's", path);
  return fmt::format("cannot open {}: {}", path, strerror(errno));
}

std::string Line(const fs::path &path) {
  Result<std::string> text = reader::ReadFile(path);
  if (!text) return "";
  return text->substr(0, text->find('\n'));
}

uint8_t StateOf(const std::string &word) {
  return word == "static" ? GKHI_STATIC : word == "marker" ? GKHI_MARKER : GKHI_DISABLED;
}

template <size_t N>
void Copy(char (&to)[N], const std::string &from) {
  std::memcpy(to, from.data(), std::min(from.size(), N - 1));
}

std::vector<std::string> Folders(const std::string &dir) {
  std::vector<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->is_directory(ec)) names.push_back(it->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Status RunKernelBatch(const std::string &batch) {
  const int fd = open(kControl, O_RDWR | O_CLOEXEC);
  if (fd < 0) return Error{WhyNot(kControl)};
  const ssize_t written = write(fd, batch.data(), batch.size());
  const int error = errno;
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while (written < 0 && (n = read(fd, buffer, sizeof(buffer))) > 0) text.append(buffer, n);
  close(fd);
  if (written == static_cast<ssize_t>(batch.size())) return Done{};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return Error{text.empty() ? fmt::format("{}: {}", kControl, strerror(error)) : text};
}

Result<std::vector<gkhi_control_hook>> KernelHooks() {
  if (access(kEvents, R_OK | X_OK) != 0) return Error{WhyNot(kEvents)};
  std::vector<gkhi_control_hook> hooks;
  for (const std::string &provider : Folders(kEvents)) {
    for (const std::string &event : Folders(fmt::format("{}/{}", kEvents, provider))) {
      const fs::path dir = fmt::format("{}/{}/{}", kEvents, provider, event);
      gkhi_control_hook hook{};
      Copy(hook.name, fmt::format("{}:{}", provider, event));
      hook.state = StateOf(Line(dir / "state"));
      Copy(hook.channels, Line(dir / "channel"));
      hooks.push_back(hook);
    }
  }
  return hooks;
}

std::vector<std::string> KernelChannels() {
  return Folders(kChannels);
}

bool KernelChannelIsManaged(const std::string &channel) {
  const std::string mode = Line(fmt::format("{}/{}/mode", kChannels, channel));
  return mode == "discard" || mode == "managed";
}

Result<std::unique_ptr<reader::KernelWriter>> KernelTrace(const std::string &output) {
  if (access(kControl, F_OK) != 0) return Error{WhyNot(kControl)};
  const auto clock = [](reader::ClockKind kind) -> Result<reader::ClockRecord> {
    const std::string folder = RuntimeFolders()[0];
    mkdir(folder.c_str(), 0700);
    return reader::BootClock(folder, kind);
  };
  return reader::KernelWriter::Create(reader::kKernelDevices, clock, output + "/kernel");
}

Result<KernelHooksOn> KernelHooksOn::Switch(const std::string &channel, const std::string &channel_statement,
                                            const std::string &batch) {
  Result<std::vector<gkhi_control_hook>> before = KernelHooks();
  if (!before) return Error{before.error()};
  // The channel first: its reader is to be there before the first event.
  Status status = RunKernelBatch(channel_statement);
  if (!status) return Error{status.error()};
  KernelHooksOn on;
  on.channel_ = channel;
  on.before_ = std::move(*before);
  on.on_ = true;
  status = RunKernelBatch(RouteTo(batch, channel));
  if (!status) return Error{status.error()};
  return on;
}

KernelHooksOn::~KernelHooksOn() {
  if (!on_) return;
  Status status = TakeBack();
  if (status) status = Remove();
  if (!status) Fail("record", fmt::format("the kernel's channel {} stays: {}", channel_, status.error()));
}

Status KernelHooksOn::TakeBack() {
  Result<std::vector<gkhi_control_hook>> now = KernelHooks();
  if (!now) return Error{now.error()};
  const std::string batch = cli::TakeBack(before_, *now, channel_);
  return batch.empty() ? Status(Done{}) : RunKernelBatch(batch);
}

Status KernelHooksOn::Remove() {
  on_ = false;
  return RunKernelBatch(fmt::format("channel {} -", channel_));
}

}  // namespace gkhi::cli
