// SPDX-License-Identifier: MIT
// Maps files and reads small ones.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <gkhi/reader/mapped_file.hpp>

namespace gkhi::reader {

namespace {

// A trace or a process's folder may have been made by anybody: a FIFO in the place of a file must not hold us
// up.
constexpr int kOpenFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr size_t kReadMax = size_t{1} << 30;

}  // namespace

Result<MappedFile> MappedFile::Map(const std::string &path, bool writable) {
  const int fd = open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | kOpenFlags);
  if (fd < 0) return Error{fmt::format("cannot open {}: {}", path, strerror(errno))};
  struct stat st {};
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return Error{fmt::format("cannot map {}: not a regular file", path)};
  }
  MappedFile file;
  if (st.st_size > 0) {
    void *data = mmap(nullptr, st.st_size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
      const int error = errno;
      close(fd);
      return Error{fmt::format("cannot map {}: {}", path, strerror(error))};
    }
    file.data_ = static_cast<std::byte *>(data);
    file.size_ = st.st_size;
  }
  close(fd);
  return file;
}

Result<MappedFile> MappedFile::Open(const std::string &path) {
  return Map(path, false);
}

Result<MappedFile> MappedFile::OpenWritable(const std::string &path) {
  return Map(path, true);
}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

Result<std::string> ReadFile(const std::string &path) {
  const int fd = open(path.c_str(), O_RDONLY | kOpenFlags);
  if (fd < 0) return Error{fmt::format("cannot open {}: {}", path, strerror(errno))};
  struct stat st {};
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return Error{fmt::format("cannot read {}: not a regular file", path)};
  }
  std::string text;
  char buffer[65536];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof(buffer))) > 0 && text.size() <= kReadMax) text.append(buffer, n);
  const int error = errno;
  close(fd);
  if (text.size() > kReadMax) return Error{fmt::format("cannot read {}: it has more than 1 GiB", path)};
  if (n < 0) return Error{fmt::format("cannot read {}: {}", path, strerror(error))};
  return text;
}

}  // namespace gkhi::reader
