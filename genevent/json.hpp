// SPDX-License-Identifier: MIT
// JSON literals.
#ifndef GENEVENT_JSON_HPP_
#define GENEVENT_JSON_HPP_

#include <string>
#include <string_view>

#include "model.hpp"

namespace genevent {

// "text", quotes included. '/' behind '*' is escaped, so that the result can stand inside a C comment.
[[nodiscard]] std::string JsonString(std::string_view text);

// The number of an enumerator, in decimal, with its sign.
[[nodiscard]] std::string EnumValueText(const EnumType &type, const Enumerator &value);

}  // namespace genevent

#endif  // GENEVENT_JSON_HPP_
