// SPDX-License-Identifier: MIT
// Continuation lines.
#include "writer.hpp"

#include <algorithm>

namespace genevent {

std::string MacroWriter::Take() const {
  constexpr size_t kColumn = 80;
  std::string out;
  for (size_t i = 0; i < lines_.size(); i++) {
    out += lines_[i];
    if (i + 1 < lines_.size()) {
      size_t column = 0;
      for (const char c : lines_[i]) column = c == '\t' ? (column / 8 + 1) * 8 : column + 1;
      const size_t tabs = column < kColumn ? (kColumn - column + 7) / 8 : 1;
      out += std::string(tabs, '\t') + "\\";
    }
    out += '\n';
  }
  return out;
}

}  // namespace genevent
