// SPDX-License-Identifier: MIT
// The schema of one event as it travels in the metadata: what is needed to find every field of a record.
#ifndef GKHI_READER_SCHEMA_HPP
#define GKHI_READER_SCHEMA_HPP

#include <gkhi/abi.h>
#include <gkhi/reader/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gkhi::reader {

struct Enumerator {
  std::string name;
  int64_t value = 0;  // flags: the mask
};

// One declared field. Values of type, form, show and the layout rules are those of struct gkhi_field in
// gkhi/abi.h.
struct Field {
  std::string name;
  char type = GKHI_T_UINT;
  uint8_t size = 1;
  uint8_t form = GKHI_FORM_SCALAR;
  uint8_t show = GKHI_SHOW_DEC;
  uint16_t offset = GKHI_NO_OFFSET;      // in the fixed part; GKHI_NO_OFFSET: in the tail
  uint16_t len_offset = GKHI_NO_OFFSET;  // of the u32 count
  uint32_t max = 1;
  bool is_signed = false;  // enums too
  std::vector<Enumerator> enumerators;
  std::string doc;

  bool in_tail() const { return offset == GKHI_NO_OFFSET; }
  bool counted() const { return len_offset != GKHI_NO_OFFSET; }
  bool is_string() const { return type == GKHI_T_STRING; }
};

struct Event {
  uint32_t id = 0;
  uint64_t layout = 0;
  std::string provider;
  std::string name;
  std::string full_name;  // "provider:name"
  std::string doc;
  std::string message;
  uint8_t stability = GKHI_PRIVATE;
  uint8_t loglevel = 6;
  uint32_t fixed_bytes = 0;
  uint32_t n_tails = 0;
  std::vector<Field> fields;

  // Index of the field, or -1.
  int FieldIndex(std::string_view field) const;
};

// The layout hash that genevent gives an event with these fields.
uint64_t LayoutHash(const Event &event);

// One line of JSON, as genevent writes it and the process puts it into the metadata (docs/format-trace.md).
// Every number is checked: a schema that comes back never makes a reader leave the record. Fields
// that do not have the layout hash they claim are refused.
Result<Event> ParseEventJson(std::string_view json);

}  // namespace gkhi::reader

#endif
