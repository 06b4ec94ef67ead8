// SPDX-License-Identifier: MIT
// Writes the lines of one C macro: indented, each but the last with a continuation in a fixed column.
#ifndef GENEVENT_WRITER_HPP_
#define GENEVENT_WRITER_HPP_

#include <fmt/format.h>

#include <string>
#include <vector>

namespace genevent {

class MacroWriter {
 public:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args &&...args) {
    lines_.push_back(std::string(indent_, '\t') + fmt::format(format, std::forward<Args>(args)...));
  }
  // A line that opens a block, closes it, or both.
  template <typename... Args>
  void Open(fmt::format_string<Args...> format, Args &&...args) {
    Line(format, std::forward<Args>(args)...);
    Indent();
  }
  void Close(fmt::format_string<> format) {
    Dedent();
    Line(format);
  }
  void Reopen(fmt::format_string<> format) {
    Close(format);
    Indent();
  }
  void Indent() { indent_++; }
  void Dedent() { indent_--; }

  // The macro, with a newline at its end.
  [[nodiscard]] std::string Take() const;

 private:
  std::vector<std::string> lines_;
  size_t indent_ = 0;
};

}  // namespace genevent

#endif  // GENEVENT_WRITER_HPP_
