// SPDX-License-Identifier: MIT
// What a plain YAML scalar is, strictly: integers, booleans, and words that other readers take for something
// else.
#ifndef GENEVENT_SCALAR_HPP_
#define GENEVENT_SCALAR_HPP_

#include <cstdint>
#include <string>
#include <string_view>

namespace genevent {

// An integer of up to 64 bits and its sign.
struct Integer {
  uint64_t magnitude = 0;
  bool negative = false;
};

enum class IntegerError { kNone, kNotAnInteger, kLeadingZero, kTooLarge };

// Decimal without leading zeros, or 0x and hexadecimal digits; an optional '-'.
[[nodiscard]] IntegerError ParseInteger(std::string_view text, Integer *out);

// true, false, yes, no, on, off, null, ~: any case. Some reader takes it for a boolean or for nothing.
[[nodiscard]] bool IsReservedWord(std::string_view text);

// A number to some YAML reader: 1, 010, 0x1f, 1e3, 1_000, 12:30, .inf.
[[nodiscard]] bool LooksNumeric(std::string_view text);

// "the integer", "the number", "the boolean", "the word": for messages.
[[nodiscard]] const char *ScalarKind(std::string_view text);

// For messages: without control characters, cut after 60 characters.
[[nodiscard]] std::string Printable(std::string_view text);

}  // namespace genevent

#endif  // GENEVENT_SCALAR_HPP_
