// SPDX-License-Identifier: MIT
// Scalars: one meaning per spelling, or an error.
#include "scalar.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "source.hpp"

namespace genevent {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

IntegerError ParseInteger(std::string_view text, Integer *out) {
  Integer value;
  if (!text.empty() && text[0] == '-') {
    value.negative = true;
    text.remove_prefix(1);
  }
  uint64_t base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0' && AllDigits(text)) {
    return IntegerError::kLeadingZero;
  }
  if (text.empty()) return IntegerError::kNotAnInteger;
  bool overflow = false;
  for (const char c : text) {
    const auto digit = static_cast<uint64_t>(DigitValue(c));
    if (digit >= base) return IntegerError::kNotAnInteger;
    overflow |= value.magnitude > (UINT64_MAX - digit) / base;
    value.magnitude = value.magnitude * base + digit;
  }
  if (overflow) return IntegerError::kTooLarge;
  if (value.magnitude == 0) value.negative = false;
  *out = value;
  return IntegerError::kNone;
}

bool IsReservedWord(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kWords = {"true", "false", "yes",  "no",
                                                             "on",   "off",   "null", "~"};
  return std::find(kWords.begin(), kWords.end(), Lower(text)) != kWords.end();
}

bool LooksNumeric(std::string_view text) {
  const std::string lower = Lower(text);
  std::string_view rest = lower;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  if (rest == ".inf" || rest == ".nan") return true;
  const bool starts =
      !rest.empty() &&
      (std::isdigit(static_cast<unsigned char>(rest[0])) ||
       (rest[0] == '.' && rest.size() > 1 && std::isdigit(static_cast<unsigned char>(rest[1]))));
  if (!starts) return false;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'o' || rest[1] == 'b')) {
    rest.remove_prefix(2);
    return rest.find_first_not_of("0123456789abcdef_") == std::string_view::npos;
  }
  return rest.find_first_not_of("0123456789_.:e+-") == std::string_view::npos;
}

const char *ScalarKind(std::string_view text) {
  Integer ignored;
  if (ParseInteger(text, &ignored) == IntegerError::kNone) return "the integer";
  if (LooksNumeric(text)) return "the number";
  if (IsReservedWord(text)) return "the boolean";
  return "the word";
}

std::string Printable(std::string_view text) {
  constexpr size_t kLimit = 60;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    if (i >= kLimit) return out + "...";
    const auto byte = static_cast<unsigned char>(text[i]);
    out +=
        length == 0 || byte < 0x20 || byte == 0x7f ? std::string("?") : std::string(text.substr(i, length));
    i += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace genevent
