// SPDX-License-Identifier: MIT
// What comes out of a trace, a traced process or an ELF file may have been written to steer the terminal of
// who reads it.
#ifndef GKHI_READER_PRINTABLE_HPP
#define GKHI_READER_PRINTABLE_HPP

#include <gkhi/utf8.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace gkhi::reader {

// As gkhi/utf8.h has them; @rest is not empty.
inline size_t Utf8Length(std::string_view rest) {
  return gkhi_utf8_length(reinterpret_cast<const uint8_t *>(rest.data()), rest.size());
}
inline size_t ShownLength(std::string_view rest) {
  return gkhi_shown_length(reinterpret_cast<const uint8_t *>(rest.data()), rest.size());
}

// @out gets the byte @c as "\x1b".
inline void AppendByteEscape(char c, std::string *out) {
  constexpr char kHex[] = "0123456789abcdef";
  *out += "\\x";
  *out += kHex[static_cast<unsigned char>(c) >> 4];
  *out += kHex[c & 15];
}

// @text for a terminal: control characters, and what is not UTF-8, as "\x1b". Line ends and tabs of our own
// texts stay; PrintableLine() has none of them either.
inline std::string Printable(std::string_view text, std::string_view kept = "\n\t") {
  std::string out;
  for (size_t i = 0, length; i < text.size(); i += std::max<size_t>(length, 1)) {
    length = ShownLength(text.substr(i));
    if (length == 0 && kept.find(text[i]) == kept.npos) {
      AppendByteEscape(text[i], &out);
    } else {
      out.append(text.substr(i, std::max<size_t>(length, 1)));
    }
  }
  return out;
}
inline std::string PrintableLine(std::string_view text) {
  return Printable(text, {});
}

// A JSON text for a terminal: what JSON lets stand in its strings as it is, but a terminal obeys, as
// "\u009b"; what is not UTF-8 as U+FFFD. It means the same.
inline std::string PrintableJson(std::string_view json) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0, length; i < json.size(); i += std::max<size_t>(length, 1)) {
    length = Utf8Length(json.substr(i));
    if (length == 0) {
      out += "\\ufffd";
    } else if (length <= 2 && ShownLength(json.substr(i)) == 0 && json[i] != '\n' && json[i] != '\t') {
      const char c = json[i + length - 1];
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else {
      out.append(json.substr(i, length));
    }
  }
  return out;
}

}  // namespace gkhi::reader

#endif
