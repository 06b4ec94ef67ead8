// SPDX-License-Identifier: MIT
// Whole files.
#include "files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace genevent {
namespace {

std::string Failure(const std::string &path) {
  return fmt::format("{}: {}", path, std::strerror(errno));
}

bool WriteAll(int fd, const std::string &text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

std::string ReadFile(const std::string &path, std::string *text) {
  const int fd = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failure(path);
  text->clear();
  char buffer[65536];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      std::string failure = Failure(path);
      close(fd);
      return failure;
    }
    if (n == 0) break;
    text->append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return {};
}

std::string WriteFile(const std::string &path, const std::string &text, bool compare) {
  if (path == "-") return WriteAll(STDOUT_FILENO, text) ? "" : Failure("standard output");
  std::string before;
  if (compare && ReadFile(path, &before).empty() && before == text) return {};
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {  // /dev/stdout, a pipe
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return Failure(path);
    std::string failure = WriteAll(fd, text) ? "" : Failure(path);
    close(fd);
    return failure;
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Failure(path);
  const bool good = WriteAll(fd, text);
  std::string failure = good ? "" : Failure(path);
  if (close(fd) != 0 && good) failure = Failure(path);
  if (failure.empty() && rename(temporary.c_str(), path.c_str()) != 0) failure = Failure(path);
  if (!failure.empty()) unlink(temporary.c_str());
  return failure;
}

}  // namespace genevent
