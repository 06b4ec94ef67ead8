// SPDX-License-Identifier: MIT
// One decoded record: typed views of its fields, nothing copied.
#ifndef GKHI_READER_RECORD_HPP
#define GKHI_READER_RECORD_HPP

#include <gkhi/reader/packet_index.hpp>
#include <gkhi/reader/schema.hpp>

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace gkhi::reader {

// One field of one record. Valid as long as the record.
struct Value {
  const Field *field = nullptr;
  const std::byte *data = nullptr;
  uint32_t count = 1;  // elements; strings: bytes without the NUL

  // Element @i as its type says; the caller asks for one that fits field->type.
  uint64_t Unsigned(uint32_t i = 0) const;
  int64_t Signed(uint32_t i = 0) const;
  double Float(uint32_t i = 0) const;
  // Strings and bytes.
  std::string_view Text() const {
    return {reinterpret_cast<const char *>(data), size_t{count} * field->size};
  }
};

struct Record {
  const Event *event = nullptr;
  uint64_t ticks = 0;
  uint32_t cpu = 0;  // GKHI_CPU_NONE: written without restartable sequences
  uint32_t pid = 0;
  uint32_t tid = 0;  // 0: this stream class does not say
  const std::byte *payload = nullptr;
  const uint32_t *tails = nullptr;  // offsets in payload, one per tail field

  size_t n_fields() const { return event->fields.size(); }
  // @i < n_fields().
  Value Get(size_t i) const;
};

// Bytes of the payload at the start of @rest, padding included, with the offsets of its tail fields in @tails
// (room for event.n_tails). nullopt: it does not fit, or is not a payload of this event.
std::optional<size_t> MeasurePayload(const Event &event, Bytes rest, uint32_t *tails);

}  // namespace gkhi::reader

#endif
