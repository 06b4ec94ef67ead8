// SPDX-License-Identifier: MIT
// Finds the fields of a record: the fixed part by offset, the tail by walking it.
#include <gkhi/reader/record.hpp>

#include <algorithm>

namespace gkhi::reader {
namespace {

template <typename T>
T Load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

constexpr size_t RoundUp8(size_t n) {
  return (n + 7) & ~size_t{7};
}

}  // namespace

uint64_t Value::Unsigned(uint32_t i) const {
  const std::byte *at = data + size_t{i} * field->size;
  switch (field->size) {
    case 1:
      return Load<uint8_t>(at);
    case 2:
      return Load<uint16_t>(at);
    case 4:
      return Load<uint32_t>(at);
    default:
      return Load<uint64_t>(at);
  }
}

int64_t Value::Signed(uint32_t i) const {
  const std::byte *at = data + size_t{i} * field->size;
  switch (field->size) {
    case 1:
      return Load<int8_t>(at);
    case 2:
      return Load<int16_t>(at);
    case 4:
      return Load<int32_t>(at);
    default:
      return Load<int64_t>(at);
  }
}

double Value::Float(uint32_t i) const {
  const std::byte *at = data + size_t{i} * field->size;
  return field->size == 4 ? Load<float>(at) : Load<double>(at);
}

Value Record::Get(size_t i) const {
  const Field &field = event->fields[i];
  Value value;
  value.field = &field;
  if (!field.in_tail()) {
    value.data = payload + field.offset;
    value.count = field.form == GKHI_FORM_ARRAY ? field.max : 1;
    return value;
  }
  size_t tail = 0;
  for (size_t k = 0; k < i; k++) tail += event->fields[k].in_tail();
  value.data = payload + tails[tail];
  if (field.counted()) {
    value.count = Load<uint32_t>(payload + field.len_offset);
  } else if (field.is_string()) {
    value.count = static_cast<uint32_t>(std::strlen(reinterpret_cast<const char *>(value.data)));
  } else {
    value.count = field.max;
  }
  return value;
}

std::optional<size_t> MeasurePayload(const Event &event, Bytes rest, uint32_t *tails) {
  size_t at = event.fixed_bytes;
  if (at > rest.size()) return std::nullopt;
  if (event.n_tails == 0) return at;
  for (const Field &field : event.fields) {
    if (!field.in_tail()) continue;
    *tails++ = static_cast<uint32_t>(at);
    const size_t room = rest.size() - at;
    size_t bytes;
    if (field.is_string()) {
      const void *nul = std::memchr(rest.data() + at, 0, std::min<size_t>(room, field.max));
      if (nul == nullptr) return std::nullopt;
      bytes = static_cast<const std::byte *>(nul) - (rest.data() + at) + 1;
    } else {
      const uint32_t count = field.counted() ? Load<uint32_t>(rest.data() + field.len_offset) : field.max;
      if (count > field.max) return std::nullopt;
      bytes = size_t{count} * field.size;
    }
    if (RoundUp8(bytes) > room) return std::nullopt;
    at += RoundUp8(bytes);
  }
  return at;
}

}  // namespace gkhi::reader
