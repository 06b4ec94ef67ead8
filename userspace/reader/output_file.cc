// SPDX-License-Identifier: MIT
// Files that are written whole, or say why not.
#include "output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gkhi::reader {
namespace {

Error Cannot(const char *what, const std::string &path) {
  return Error{fmt::format("cannot {} {}: {}", what, path, strerror(errno))};
}

}  // namespace

Status WriteAll(int fd, const char *data, size_t size, const std::string &path) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Cannot("write", path);
    data += n;
    size -= n;
  }
  return Done{};
}

Status ReplaceFile(const std::string &path, const std::string &text) {
  const std::string temporary = path + ".new";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return Cannot("write", temporary);
  Status status = WriteAll(fd, text.data(), text.size(), temporary);
  close(fd);
  if (status && rename(temporary.c_str(), path.c_str()) != 0) status = Cannot("write", path);
  if (!status) unlink(temporary.c_str());
  return status;
}

}  // namespace gkhi::reader
