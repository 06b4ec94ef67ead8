// SPDX-License-Identifier: MIT
// A value, or the diagnostics that say why there is none.
#ifndef GENEVENT_RESULT_HPP_
#define GENEVENT_RESULT_HPP_

#include <utility>
#include <variant>

#include "source.hpp"

namespace genevent {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}                        // NOLINT
  Result(Diagnostics errors) : value_(std::in_place_index<1>, std::move(errors)) {}            // NOLINT
  Result(Diagnostic error) : value_(std::in_place_index<1>, Diagnostics{std::move(error)}) {}  // NOLINT

  [[nodiscard]] bool ok() const { return value_.index() == 0; }
  [[nodiscard]] const T &value() const & { return std::get<0>(value_); }
  [[nodiscard]] T &&value() && { return std::get<0>(std::move(value_)); }
  [[nodiscard]] const Diagnostics &errors() const { return std::get<1>(value_); }

 private:
  std::variant<T, Diagnostics> value_;
};

}  // namespace genevent

#endif  // GENEVENT_RESULT_HPP_
