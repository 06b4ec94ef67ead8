// SPDX-License-Identifier: MIT
// Opens the directory of a traced process and checks what it reads there.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <gkhi/reader/producer.hpp>

namespace gkhi::reader {
namespace {

std::string Bounded(const char *text, size_t size) {
  return std::string(text, strnlen(text, size));
}

// Field 22 of /proc/<pid>/stat; 0: no such process, or a zombie: its memory is gone.
uint64_t StartTime(uint32_t pid) {
  Result<std::string> stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  if (!stat) return 0;
  // The name may hold anything: count from behind its closing bracket.
  size_t at = stat->rfind(')');
  if (at == stat->npos || at + 2 >= stat->size() || (*stat)[at + 2] == 'Z' || (*stat)[at + 2] == 'X')
    return 0;
  for (int field = 2; at != stat->npos && field < 22; field++) at = stat->find(' ', at + 1);
  return at == stat->npos ? 0 : std::strtoull(stat->c_str() + at, nullptr, 10);
}

}  // namespace

Result<Producer> Producer::Open(const std::string &dir) {
  Producer producer;
  producer.dir_ = dir;
  Result<MappedFile> file = MappedFile::Open(dir + "/control");
  if (!file) return Error{file.error()};
  if (file->size() < sizeof(gkhi_control)) {
    return Error{fmt::format("{}/control: found {} bytes, wanted at least {}", dir, file->size(),
                             sizeof(gkhi_control))};
  }
  producer.control_ = std::move(*file);
  const gkhi_control &control = producer.control();
  if (__atomic_load_n(&control.magic, __ATOMIC_ACQUIRE) != GKHI_CONTROL_MAGIC) {
    return Error{fmt::format("{}/control: no magic of gkhi", dir)};
  }
  if (control.version != GKHI_CONTROL_VERSION) {
    return Error{fmt::format("{}/control: found version {}, wanted {}: this program uses another gkhi", dir,
                             control.version, GKHI_CONTROL_VERSION)};
  }
  return producer;
}

std::string Producer::comm() const {
  return Bounded(control().comm, sizeof(control().comm));
}

bool Producer::ended() const {
  const gkhi_control &c = control();
  return StartTime(c.pid) != c.starttime;
}

std::vector<std::string> Producer::RingPaths() const {
  std::vector<std::string> paths;
  std::error_code ec;
  for (std::filesystem::directory_iterator it(dir_, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().extension() == ".ring") paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::string> Producer::EventBlocks() const {
  const uint64_t size = __atomic_load_n(&control().metadata_size, __ATOMIC_ACQUIRE);
  Result<std::string> text = ReadFile(dir_ + "/metadata");
  if (!text) return Error{text.error()};
  if (text->size() < size) {
    return Error{fmt::format("{}/metadata: found {} bytes, wanted {}", dir_, text->size(), size)};
  }
  text->resize(size);
  return text;
}

uint64_t Producer::Unrouted() const {
  return Sum(&gkhi_control_hook::lost);
}

uint64_t Producer::Faults() const {
  return Sum(&gkhi_control_hook::faults);
}

uint64_t Producer::Sum(uint64_t gkhi_control_hook::*counter) const {
  // The table grows: what is mapped may be too short by now.
  Result<MappedFile> file = MappedFile::Open(dir_ + "/control");
  const gkhi_control &c = control();
  uint64_t sum = 0;
  for (uint64_t i = 0; file && i < c.n_hooks; i++) {
    const uint64_t at = c.hooks_offset + i * sizeof(gkhi_control_hook);
    if (at > file->size() || file->size() - at < sizeof(gkhi_control_hook)) break;
    gkhi_control_hook hook;
    std::memcpy(&hook, file->data() + at, sizeof(hook));
    sum += hook.*counter;
  }
  return sum;
}

TraceHead Producer::Head(const ClockRecord &clock) const {
  const gkhi_control &c = control();
  TraceHead head;
  std::copy(std::begin(c.uuid), std::end(c.uuid), head.uuid.begin());
  head.clock = clock;
  head.env.pid = c.pid;
  head.env.comm = comm();
  head.env.boot_id = Bounded(c.boot_id, sizeof(c.boot_id));
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  head.env.hostname = host;
  return head;
}

std::string Producer::TraceName() const {
  std::string name = comm();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c <= ' ' || c == '/' || c == 0x7f; }, '_');
  if (name.empty() || name[0] == '.' || name[0] == '-') name.insert(0, "_");
  return fmt::format("{}-{}", name, pid());
}

}  // namespace gkhi::reader
