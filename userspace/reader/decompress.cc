// SPDX-License-Identifier: MIT
// Kernel modules come compressed: takes xz or zstd off a file's bytes.
#include <fmt/format.h>
#include <lzma.h>
#include <zstd.h>

#include <memory>

#include "elf_image.hpp"

namespace gkhi::reader {
namespace {

// No module comes near; a few hostile bytes must not fill the memory.
constexpr size_t kMaxSize = size_t{1} << 30;
constexpr size_t kChunk = 1 << 16;
constexpr uint64_t kMaxMemory = uint64_t{256} << 20;

Error Damaged(const std::string &name, const char *what) {
  return Error{fmt::format("{}: the {} data is damaged or truncated", name, what)};
}

Error TooLarge(const std::string &name) {
  return Error{fmt::format("{}: more than {} MiB when decompressed", name, kMaxSize >> 20)};
}

Result<std::string> FromXz(const std::string &bytes, const std::string &name) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMaxMemory, LZMA_CONCATENATED) != LZMA_OK)
    return Error{"liblzma does not start"};
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream *)> owner(&stream, lzma_end);
  stream.next_in = reinterpret_cast<const uint8_t *>(bytes.data());
  stream.avail_in = bytes.size();
  std::string out;
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    if (out.size() >= kMaxSize) return TooLarge(name);
    const size_t used = out.size();
    out.resize(used + kChunk);
    stream.next_out = reinterpret_cast<uint8_t *>(out.data() + used);
    stream.avail_out = kChunk;
    result = lzma_code(&stream, LZMA_FINISH);
    out.resize(used + kChunk - stream.avail_out);
  }
  if (result != LZMA_STREAM_END) return Damaged(name, "xz");
  return out;
}

Result<std::string> FromZstd(const std::string &bytes, const std::string &name) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream *)> stream(ZSTD_createDStream(),
                                                                         ZSTD_freeDStream);
  if (!stream) return Error{"libzstd does not start"};
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::string out;
  size_t left = 1;
  while (left != 0) {
    if (out.size() >= kMaxSize) return TooLarge(name);
    const size_t used = out.size(), read = in.pos;
    out.resize(used + kChunk);
    ZSTD_outBuffer chunk{out.data() + used, kChunk, 0};
    left = ZSTD_decompressStream(stream.get(), &chunk, &in);
    out.resize(used + chunk.pos);
    if (ZSTD_isError(left) || (left != 0 && chunk.pos == 0 && in.pos == read)) return Damaged(name, "zstd");
  }
  return out;
}

}  // namespace

Result<std::string> Decompress(std::string bytes, const std::string &name) {
  if (bytes.compare(0, 6,
                    std::string("\xfd"
                                "7zXZ\0",
                                6)) == 0)
    return FromXz(bytes, name);
  if (bytes.compare(0, 4, "\x28\xb5\x2f\xfd") == 0) return FromZstd(bytes, name);
  return bytes;
}

}  // namespace gkhi::reader
