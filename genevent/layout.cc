// SPDX-License-Identifier: MIT
// The rules of struct gkhi_field in gkhi/abi.h, in one place.
#include "layout.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace genevent {
namespace {

uint64_t RoundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

// Takes `bytes` at the next multiple of `align`.
uint32_t Take(uint64_t *end, uint64_t bytes, uint64_t align) {
  const uint64_t at = RoundUp(*end, align);
  *end = at + bytes;
  return static_cast<uint32_t>(at);
}

// What of a type decides how bytes are read: not the name of an enum, and not its values.
std::string HashedType(const Model &model, const Field &field) {
  std::string element = ElementText(model, field);
  if (field.kind == Kind::kEnum || field.kind == Kind::kFlags) {
    element = fmt::format("{}:{}{}", field.kind == Kind::kEnum ? "enum" : "flags",
                          field.is_signed ? 's' : 'u', field.size * 8);
  }
  if (field.form == Form::kArray) return fmt::format("{}[{}]", element, field.max);
  if (field.kind == Kind::kString || field.kind == Kind::kBinary)
    return fmt::format("{} max {}", element, field.max);
  if (field.form == Form::kSequence) return fmt::format("{}[] max {}", element, field.max);
  return element;
}

}  // namespace

bool LayOut(const Model &model, Event *event) {
  uint64_t fixed = 0;
  uint64_t tail_words = 0;
  event->tails = 0;
  for (Field &field : event->fields) {
    const uint64_t bytes = uint64_t{field.size} * field.max;
    field.tail = field.kind == Kind::kString || field.counted() ||
                 (field.form == Form::kArray && bytes > kFixedArrayBytes);
    if (field.counted()) field.len_offset = Take(&fixed, 4, 4);
    if (field.tail) {
      tail_words += RoundUp(bytes, 8) / 8;
      event->tails++;
    } else {
      field.offset = Take(&fixed, bytes, field.size);
    }
  }
  const uint64_t words = RoundUp(fixed, 8) / 8 + tail_words;
  if (words > kMaxPayloadWords) return false;
  event->fixed_bytes = static_cast<uint32_t>(fixed);
  event->fixed_words = static_cast<uint32_t>(RoundUp(fixed, 8) / 8);
  event->max_words = static_cast<uint32_t>(words);
  const std::string text = CanonicalText(model, *event);
  event->layout_hash = XXH64(text.data(), text.size(), 0);
  if (event->layout_hash == 0) event->layout_hash = 1;  // 0 says "unknown" in a map record
  return true;
}

std::string CanonicalText(const Model &model, const Event &event) {
  std::string text = fmt::format("gkhi layout 1\nevent {}:{}\n", model.provider, event.name);
  for (const Field &field : event.fields)
    text += fmt::format("field {} {}\n", field.name, HashedType(model, field));
  return text;
}

}  // namespace genevent
