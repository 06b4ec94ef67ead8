// SPDX-License-Identifier: MIT
#include "procfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace gkhi {
namespace {

std::string Proc(pid_t pid, const char *name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// The text behind "Name:" in a status file.
std::string_view FieldOf(std::string_view text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.size() > name.size() && line.substr(0, name.size()) == name && line[name.size()] == ':') {
      line.remove_prefix(name.size() + 1);
      return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    }
    at = end + 1;
  }
  return {};
}

uint64_t NumberOf(std::string_view text, int base) {
  return std::strtoull(std::string(text.substr(0, 40)).c_str(), nullptr, base);
}

// The fields of a stat file behind the command's name, which may hold anything.
std::string_view BehindName(std::string_view stat) {
  size_t at = stat.rfind(')');
  return at == std::string_view::npos || at + 2 > stat.size() ? std::string_view() : stat.substr(at + 2);
}

}  // namespace

std::optional<std::string> ReadWholeFile(const std::string &path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> buf;
  ssize_t got = 0;
  while ((got = read(fd, buf.data(), buf.size())) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) text.append(buf.data(), static_cast<size_t>(got));
  }
  close(fd);
  if (got < 0) return std::nullopt;
  return text;
}

bool ReadMemory(pid_t pid, uint64_t address, void *to, size_t size) {
  iovec local{to, size};
  iovec remote{reinterpret_cast<void *>(address), size};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

bool WriteMemory(pid_t pid, uint64_t address, const void *from, size_t size) {
  iovec local{const_cast<void *>(from), size};
  iovec remote{reinterpret_cast<void *>(address), size};
  return process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

SignalSets ReadSignalSets(pid_t pid, pid_t tid) {
  SignalSets sets;
  auto text = ReadWholeFile(Proc(pid, "task/") + std::to_string(tid) + "/status");
  if (!text) return sets;
  sets.pending = NumberOf(FieldOf(*text, "SigPnd"), 16) | NumberOf(FieldOf(*text, "ShdPnd"), 16);
  sets.caught = NumberOf(FieldOf(*text, "SigCgt"), 16);
  return sets;
}

std::optional<ProcessStatus> ReadStatus(pid_t pid) {
  auto text = ReadWholeFile(Proc(pid, "status"));
  if (!text) return std::nullopt;
  ProcessStatus status;
  std::string_view uids = FieldOf(*text, "Uid");
  size_t tab = uids.find('\t');
  status.uid = static_cast<uid_t>(NumberOf(tab == std::string_view::npos ? uids : uids.substr(tab + 1), 10));
  status.tracer = static_cast<pid_t>(NumberOf(FieldOf(*text, "TracerPid"), 10));
  status.seccomp = static_cast<int>(NumberOf(FieldOf(*text, "Seccomp"), 10));
  return status;
}

std::vector<ThreadState> ListThreads(pid_t pid) {
  std::vector<ThreadState> threads;
  DIR *dir = opendir(Proc(pid, "task").c_str());
  if (!dir) return threads;
  while (const dirent *entry = readdir(dir)) {
    ThreadState thread;
    thread.tid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (thread.tid <= 0) continue;
    const std::string base = Proc(pid, "task/") + entry->d_name;
    auto stat = ReadWholeFile(base + "/stat");
    if (!stat || BehindName(*stat).empty()) continue;
    thread.state = BehindName(*stat)[0];
    auto call = ReadWholeFile(base + "/syscall");
    if (call && !call->empty() && (*call)[0] >= '0' && (*call)[0] <= '9')
      thread.syscall = std::strtoll(call->c_str(), nullptr, 10);
    threads.push_back(thread);
  }
  closedir(dir);
  return threads;
}

std::optional<uint64_t> ReadStartTime(pid_t pid) {
  auto stat = ReadWholeFile(Proc(pid, "stat"));
  if (!stat) return std::nullopt;
  std::string_view rest = BehindName(*stat);  // begins with field 3, the state
  // A main thread that has ended is a zombie too, while others (field 20 counts them) run on.
  const bool ended = !rest.empty() && rest[0] == 'Z';
  for (int field = 3; field < 22; field++) {
    if (field == 20 && ended && NumberOf(rest, 10) <= 1) return std::nullopt;
    size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  return NumberOf(rest, 10);
}

std::vector<Mapping> ReadMaps(pid_t pid) {
  std::vector<Mapping> maps;
  auto text = ReadWholeFile(Proc(pid, "maps"));
  if (!text) return maps;
  for (size_t at = 0; at < text->size();) {
    size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    at = end + 1;
    Mapping m;
    char perms[8] = "";
    unsigned major = 0, minor = 0;
    int path = 0;
    if (sscanf(line.c_str(), "%lx-%lx %7s %lx %x:%x %lu %n", &m.start, &m.end, perms, &m.offset, &major,
               &minor, &m.inode, &path) < 7)
      continue;
    m.readable = perms[0] == 'r';
    if (path > 0 && static_cast<size_t>(path) < line.size()) m.path = line.substr(static_cast<size_t>(path));
    maps.push_back(std::move(m));
  }
  return maps;
}

std::optional<std::string> ReadEnvironment(pid_t pid, const std::string &name) {
  auto text = ReadWholeFile(Proc(pid, "environ"));
  if (!text) return std::nullopt;
  for (size_t at = 0; at < text->size();) {
    size_t end = std::min(text->find('\0', at), text->size());
    if (text->compare(at, name.size() + 1, name + "=") == 0)
      return text->substr(at + name.size() + 1, end - at - name.size() - 1);
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace gkhi
