// SPDX-License-Identifier: MIT
// What /proc says of another process.
#ifndef GKHI_CLI_PROCFS_HPP
#define GKHI_CLI_PROCFS_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gkhi {

// The whole file, or nothing when it cannot be read.
std::optional<std::string> ReadWholeFile(const std::string &path);

// `size` bytes at `address` of the process; false: not all of them can be read.
bool ReadMemory(pid_t pid, uint64_t address, void *to, size_t size);

// The same, the other way.
bool WriteMemory(pid_t pid, uint64_t address, const void *from, size_t size);

struct SignalSets {
  uint64_t pending = 0;  // of the thread and of its process
  uint64_t caught = 0;
};
SignalSets ReadSignalSets(pid_t pid, pid_t tid);

struct ProcessStatus {
  uid_t uid = 0;  // effective
  pid_t tracer = 0;
  int seccomp = 0;
};
std::optional<ProcessStatus> ReadStatus(pid_t pid);

struct ThreadState {
  pid_t tid = 0;
  char state = '?';
  int64_t syscall = -1;  // the system call it sleeps in; -1: none, or not told
};
std::vector<ThreadState> ListThreads(pid_t pid);

// Field 22 of /proc/PID/stat; nothing when there is no such process, or nothing of it but its exit status.
std::optional<uint64_t> ReadStartTime(pid_t pid);

struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  uint64_t inode = 0;
  bool readable = false;
  std::string path;
};
std::vector<Mapping> ReadMaps(pid_t pid);

// The value of a variable in the environment the program was started with.
std::optional<std::string> ReadEnvironment(pid_t pid, const std::string &name);

}  // namespace gkhi

#endif
