// SPDX-License-Identifier: MIT
// Pieces of C text that several emitters write.
#ifndef GENEVENT_CTEXT_HPP_
#define GENEVENT_CTEXT_HPP_

#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace genevent {

// "text" as a C string literal, quotes included; any bytes, no trigraphs.
[[nodiscard]] std::string CString(std::string_view text);

// The same in several literals, one per line and none much longer than a line, for long texts.
[[nodiscard]] std::string CStringLines(std::string_view text, std::string_view indent);

// Text that is safe inside a C comment, split into lines of at most `width` columns.
[[nodiscard]] std::vector<std::string> CommentLines(std::string_view text, size_t width);

// "SPDX..." (when the provider has a license) and the provenance line.
[[nodiscard]] std::string FileHead(const Model &model, std::string_view what);

// uint32_t, bool, double, const void *: of one element as C code passes it.
[[nodiscard]] std::string CType(const Field &field);

// An enumerator's value as a C constant: decimal, flags in hexadecimal.
[[nodiscard]] std::string EnumLiteral(const EnumType &type, const Enumerator &value);

[[nodiscard]] std::string Upper(std::string_view text);

}  // namespace genevent

#endif  // GENEVENT_CTEXT_HPP_
