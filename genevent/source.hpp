// SPDX-License-Identifier: MIT
// The text of one input file, places in it, and diagnostics that show them.
#ifndef GENEVENT_SOURCE_HPP_
#define GENEVENT_SOURCE_HPP_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace genevent {

// 1-based; columns count bytes, as compilers do. Line 0 is the file as a whole.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
};

enum class Severity { kError, kWarning, kNote };

struct Diagnostic {
  Severity severity = Severity::kError;
  Position at = {};
  std::string message;
  std::string hint = {};  // what to write instead; may be empty
};

using Diagnostics = std::vector<Diagnostic>;

class Source {
 public:
  // `name` is what diagnostics and generated files call the file. CRLF becomes LF.
  Source(std::string name, std::string_view text);

  [[nodiscard]] const std::string &name() const { return name_; }
  [[nodiscard]] const std::string &text() const { return text_; }
  [[nodiscard]] std::string_view Line(uint32_t number) const;
  // Into text(); its size when there is no such place.
  [[nodiscard]] size_t Offset(Position at) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<size_t> line_starts_;
};

// "file:line:col: error: message", the line, a caret, a hint.
[[nodiscard]] std::string Render(const Source &source, const Diagnostic &diagnostic);
[[nodiscard]] std::string Render(const Source &source, const Diagnostics &diagnostics);

// Length of the UTF-8 sequence at text[at]; 0 when it is not valid UTF-8.
[[nodiscard]] size_t Utf8Length(std::string_view text, size_t at);

// The name in `names` that `word` was probably meant to be, or "".
[[nodiscard]] std::string Nearest(std::string_view word, const std::vector<std::string> &names);

}  // namespace genevent

#endif  // GENEVENT_SOURCE_HPP_
