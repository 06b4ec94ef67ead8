// SPDX-License-Identifier: MIT
// Errors as values: Result<T> is a T or an Error that says what was found, what was wanted, and where.
#ifndef GKHI_READER_RESULT_HPP
#define GKHI_READER_RESULT_HPP

#include <string>
#include <utility>
#include <variant>

namespace gkhi {

struct Error {
  std::string text;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return ok(); }
  bool ok() const { return state_.index() == 0; }

  // Only when ok().
  T &operator*() { return *std::get_if<0>(&state_); }
  const T &operator*() const { return *std::get_if<0>(&state_); }
  T *operator->() { return std::get_if<0>(&state_); }
  const T *operator->() const { return std::get_if<0>(&state_); }

  // Only when not ok().
  const std::string &error() const { return std::get_if<1>(&state_)->text; }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace gkhi

#endif
