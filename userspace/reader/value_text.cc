// SPDX-License-Identifier: MIT
// One value as text or JSON, as its type and format say.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <gkhi/reader/printable.hpp>
#include <gkhi/reader/render.hpp>

namespace gkhi::reader {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void AppendHexBytes(const std::byte *data, size_t n, char separator, std::string *out) {
  for (size_t i = 0; i < n; i++) {
    if (separator != 0 && i > 0) *out += separator;
    *out += kHex[std::to_integer<unsigned>(data[i]) >> 4];
    *out += kHex[std::to_integer<unsigned>(data[i]) & 15];
  }
}

void AppendHex(uint64_t value, std::string *out) {
  char digits[16];
  int n = 0;
  do {
    digits[n++] = kHex[value & 15];
    value >>= 4;
  } while (value != 0);
  *out += "0x";
  while (n > 0) *out += digits[--n];
}

template <typename T>
void AppendInt(T value, std::string *out) {
  const fmt::format_int text(value);
  out->append(text.data(), text.size());
}

// The shortest text that reads back as the same number.
void AppendFloat(const Value &value, uint32_t i, std::string *out) {
  if (value.field->size == 4) {
    fmt::format_to(std::back_inserter(*out), "{}", static_cast<float>(value.Float(i)));
  } else {
    fmt::format_to(std::back_inserter(*out), "{}", value.Float(i));
  }
}

// "1.0", so that a parser of JSON does not make an integer of it, and -0.0 keeps its sign.
void AppendJsonFloat(const Value &value, uint32_t i, std::string *out) {
  const size_t start = out->size();
  const bool finite = std::isfinite(value.Float(i));
  if (!finite) *out += '"';
  AppendFloat(value, i, out);
  if (!finite) {
    *out += '"';
  } else if (out->find_first_not_of("-0123456789", start) == out->npos) {
    *out += ".0";
  }
}

// The value as the enumerators hold it: sign-extended when the declared type could be signed, so compare the
// low bytes.
uint64_t LowBytes(uint64_t value, uint8_t size) {
  return size == 8 ? value : value & ((uint64_t{1} << size * 8) - 1);
}

const std::string *EnumName(const Field &field, uint64_t value) {
  for (const Enumerator &e : field.enumerators) {
    if (LowBytes(static_cast<uint64_t>(e.value), field.size) == value) return &e.name;
  }
  return nullptr;
}

// "READ|WRITE|0x40"; what no flag covers is shown, 0 is "0" unless a flag of mask 0 names it.
void AppendFlags(const Field &field, uint64_t value, std::string *out) {
  if (value == 0) {
    const std::string *name = EnumName(field, 0);
    *out += name ? *name : std::string("0");
    return;
  }
  bool first = true;
  for (const Enumerator &e : field.enumerators) {
    const uint64_t mask = LowBytes(static_cast<uint64_t>(e.value), field.size);
    if (mask == 0 || (value & mask) != mask) continue;
    if (!first) *out += '|';
    *out += e.name;
    value &= ~mask;
    first = false;
  }
  if (value == 0) return;
  if (!first) *out += '|';
  AppendHex(value, out);
}

// Printable characters as they are; the rest as C escapes.
void AppendEscaped(std::string_view text, char quote, std::string *out) {
  for (size_t i = 0, length; i < text.size(); i += std::max<size_t>(length, 1)) {
    const char c = text[i];
    length = ShownLength(text.substr(i));
    if (c == quote || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (length == 0) {
      AppendByteEscape(c, out);
    } else {
      out->append(text.substr(i, length));
    }
  }
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  for (size_t i = 0, length; i < text.size(); i += length) {
    length = ShownLength(text.substr(i));
    if (length == 0 || text[i] == ' ' || text[i] == '"' || text[i] == '\\') return true;
  }
  return false;
}

void AppendString(std::string_view text, std::string *out) {
  if (!NeedsQuotes(text)) {
    out->append(text);
    return;
  }
  *out += '"';
  AppendEscaped(text, '"', out);
  *out += '"';
}

// Formats that take all bytes of the field as one value; false: not one of them, or not its size.
bool AppendWhole(const Value &value, std::string *out) {
  const size_t bytes = size_t{value.count} * value.field->size;
  char text[INET6_ADDRSTRLEN];
  switch (value.field->show) {
    case GKHI_SHOW_IPV4:
      if (bytes != 4) return false;
      inet_ntop(AF_INET, value.data, text, sizeof(text));
      *out += text;
      return true;
    case GKHI_SHOW_IPV6:
      if (bytes != 16) return false;
      inet_ntop(AF_INET6, value.data, text, sizeof(text));
      *out += text;
      return true;
    case GKHI_SHOW_MAC:
      if (bytes != 6) return false;
      AppendHexBytes(value.data, bytes, ':', out);
      return true;
    case GKHI_SHOW_UUID:
      if (bytes != 16) return false;
      for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *out += '-';
        AppendHexBytes(value.data + i, 1, 0, out);
      }
      return true;
    default:
      return false;
  }
}

void AppendNumber(const Value &value, uint32_t i, std::string *out) {
  if (value.field->is_signed) return AppendInt(value.Signed(i), out);
  AppendInt(value.Unsigned(i), out);
}

// An integer as the field's format says. Negative numbers have no hexadecimal or octal form of their own:
// their bits.
void AppendInteger(const Value &value, uint32_t i, uint8_t show, std::string *out) {
  const uint64_t bits = value.Unsigned(i);
  switch (show) {
    case GKHI_SHOW_HEX:
      return AppendHex(bits, out);
    case GKHI_SHOW_OCT:
      *out += '0';
      if (bits != 0) fmt::format_to(std::back_inserter(*out), "{:o}", bits);
      return;
    case GKHI_SHOW_CHAR:
      *out += '\'';
      AppendEscaped(
          std::string_view(reinterpret_cast<const char *>(value.data) + size_t{i} * value.field->size, 1),
          '\'', out);
      *out += '\'';
      return;
    default:
      return AppendNumber(value, i, out);
  }
}

void AppendElement(const Value &value, uint32_t i, std::string *out) {
  switch (value.field->type) {
    case GKHI_T_BOOL:
      *out += value.Unsigned(i) != 0 ? "true" : "false";
      return;
    case GKHI_T_PTR:
      return AppendHex(value.Unsigned(i), out);
    case GKHI_T_FLOAT:
      return AppendFloat(value, i, out);
    case GKHI_T_ENUM:
      if (const std::string *name = EnumName(*value.field, value.Unsigned(i))) {
        *out += *name;
        return;
      }
      return AppendInteger(value, i, value.field->show, out);
    case GKHI_T_FLAGS:
      return AppendFlags(*value.field, value.Unsigned(i), out);
    default:
      return AppendInteger(value, i, value.field->show, out);
  }
}

bool IsList(const Field &field) {
  return field.type != GKHI_T_BINARY && (field.form == GKHI_FORM_ARRAY || field.form == GKHI_FORM_SEQUENCE);
}

// An array of one-byte characters is a text up to its first NUL.
bool IsCharText(const Field &field) {
  return field.show == GKHI_SHOW_CHAR && field.size == 1 && IsList(field);
}

std::string_view CharText(const Value &value) {
  const std::string_view text = value.Text();
  return text.substr(0, text.find('\0'));
}

void AppendJsonElement(const Value &value, uint32_t i, std::string *out) {
  switch (value.field->type) {
    case GKHI_T_BOOL:
      *out += value.Unsigned(i) != 0 ? "true" : "false";
      return;
    case GKHI_T_FLOAT:
      return AppendJsonFloat(value, i, out);
    case GKHI_T_ENUM:
      if (const std::string *name = EnumName(*value.field, value.Unsigned(i)))
        return AppendJsonString(*name, out);
      return AppendNumber(value, i, out);
    case GKHI_T_PTR:
    case GKHI_T_FLAGS:
      *out += '"';
      AppendElement(value, i, out);
      *out += '"';
      return;
    default:
      return AppendNumber(value, i, out);
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string *out) {
  *out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    const size_t length = Utf8Length(text);
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += text[0];
    } else if (length == 1 && ShownLength(text) == 0) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", c);
    } else if (length == 2 && ShownLength(text) == 0) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned char>(text[1]));
    } else if (length == 0) {
      *out += "\\ufffd";
    } else {
      out->append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  *out += '"';
}

void AppendValue(const Value &value, std::string *out) {
  const Field &field = *value.field;
  if (field.is_string()) return AppendString(value.Text(), out);
  if (AppendWhole(value, out)) return;
  if (field.type == GKHI_T_BINARY && field.show == GKHI_SHOW_CHAR) return AppendString(value.Text(), out);
  if (field.type == GKHI_T_BINARY) return AppendHexBytes(value.data, value.Text().size(), 0, out);
  if (IsCharText(field)) return AppendString(CharText(value), out);
  if (!IsList(field)) return AppendElement(value, 0, out);
  *out += '[';
  for (uint32_t i = 0; i < value.count; i++) {
    if (i > 0) *out += ',';
    AppendElement(value, i, out);
  }
  *out += ']';
}

void AppendFormatted(const Value &value, uint8_t show, std::string *out) {
  const Field &field = *value.field;
  if (field.is_string() || field.type == GKHI_T_BINARY || field.type == GKHI_T_FLOAT)
    return AppendValue(value, out);
  if (!IsList(field)) return AppendInteger(value, 0, show, out);
  *out += '[';
  for (uint32_t i = 0; i < value.count; i++) {
    if (i > 0) *out += ',';
    AppendInteger(value, i, show, out);
  }
  *out += ']';
}

void AppendJsonValue(const Value &value, std::string *out) {
  const Field &field = *value.field;
  std::string text;
  if (field.is_string()) return AppendJsonString(value.Text(), out);
  if (AppendWhole(value, &text)) return AppendJsonString(text, out);
  if (field.type == GKHI_T_BINARY && field.show == GKHI_SHOW_CHAR) return AppendJsonString(value.Text(), out);
  if (field.type == GKHI_T_BINARY) {
    AppendHexBytes(value.data, value.Text().size(), 0, &text);
    return AppendJsonString(text, out);
  }
  if (IsCharText(field)) return AppendJsonString(CharText(value), out);
  if (!IsList(field)) return AppendJsonElement(value, 0, out);
  *out += '[';
  for (uint32_t i = 0; i < value.count; i++) {
    if (i > 0) *out += ',';
    AppendJsonElement(value, i, out);
  }
  *out += ']';
}

}  // namespace gkhi::reader
