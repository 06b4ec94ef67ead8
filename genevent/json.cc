// SPDX-License-Identifier: MIT
// JSON literals.
#include "json.hpp"

#include <fmt/format.h>

namespace genevent {

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (byte == '/' && i > 0 && text[i - 1] == '*') {
      out += "\\/";
    } else {
      out += text[i];
    }
  }
  return out + '"';
}

std::string EnumValueText(const EnumType &type, const Enumerator &value) {
  return type.is_signed ? fmt::format("{}", static_cast<int64_t>(value.value))
                        : fmt::format("{}", value.value);
}

}  // namespace genevent
