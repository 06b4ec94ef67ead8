// SPDX-License-Identifier: MIT
// A file mapped for reading. It must not be cut while it is mapped; one that grows is read up to its size at
// opening.
#ifndef GKHI_READER_MAPPED_FILE_HPP
#define GKHI_READER_MAPPED_FILE_HPP

#include <gkhi/reader/packet_index.hpp>
#include <gkhi/reader/result.hpp>

#include <string>

namespace gkhi::reader {

class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string &path);
  // Shared and writable: a consumer acknowledges in it.
  static Result<MappedFile> OpenWritable(const std::string &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  Bytes bytes() const { return {data_, size_}; }
  std::byte *data() { return data_; }
  const std::byte *data() const { return data_; }
  size_t size() const { return size_; }

 private:
  static Result<MappedFile> Map(const std::string &path, bool writable);

  std::byte *data_ = nullptr;
  size_t size_ = 0;
};

Result<std::string> ReadFile(const std::string &path);

}  // namespace gkhi::reader

#endif
