// SPDX-License-Identifier: MIT
// libFuzzer target for the trace reader: metadata and two stream files of any bytes. Whatever they hold,
// every record is rendered in all ways, memory stays inside, and the counts stay consistent.
//
// Input: u16 size of the metadata, u16 size of the first stream, then metadata, first stream, second stream.
#include <gkhi/reader/render.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace gkhi::reader;  // NOLINT: a fuzz target
using gkhi::Result;

namespace {

// Takes @n bytes off the front of @rest, or what there is.
Bytes Take(Bytes *rest, size_t n) {
  const Bytes front = rest->first(std::min(n, rest->size()));
  *rest = rest->subspan(front.size());
  return front;
}

uint16_t TakeSize(Bytes *rest) {
  uint16_t size = 0;
  const Bytes front = Take(rest, sizeof(size));
  std::memcpy(&size, front.data(), front.size());
  return size;
}

std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

void ReadStream(const Metadata &metadata, Bytes file) {
  const StreamIndex index = IndexStream(file, metadata.head().uuid);
  StreamCursor cursor(metadata, index, file);
  std::string out;
  uint64_t records = 0;
  uint64_t last = 0;
  while (const Record *record = cursor.Next()) {
    if (record->ticks < last) abort();  // time never goes back inside a stream
    last = record->ticks;
    for (size_t i = 0; i < record->n_fields(); i++) {
      out.clear();
      AppendValue(record->Get(i), &out);
      AppendJsonValue(record->Get(i), &out);
    }
    (void)metadata.head().clock.ToRealtime(record->ticks);
    records++;
  }
  if (records != cursor.events()) abort();
  LossText(cursor.loss());
  // No byte is counted twice.
  if (index.loss.damaged_bytes > file.size() || cursor.loss().damaged_bytes > file.size()) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes rest(reinterpret_cast<const std::byte *>(data), size);
  const size_t metadata_size = TakeSize(&rest);
  const size_t first_size = TakeSize(&rest);
  Result<Metadata> metadata = ParseMetadata(AsText(Take(&rest, metadata_size)));
  if (!metadata) return 0;
  ReadStream(*metadata, Take(&rest, first_size));
  ReadStream(*metadata, rest);
  return 0;
}
