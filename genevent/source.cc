// SPDX-License-Identifier: MIT
// Source text and the rendering of diagnostics.
#include "source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace genevent {
namespace {

constexpr size_t kWindow = 100;  // columns of a source line that a diagnostic shows

const char *SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

struct Excerpt {
  std::string line;
  std::string caret;
};

// Shows the line so that it takes one column per character on any terminal: tabs stay (the caret line repeats
// them), bytes that are no text become '?'.
Excerpt MakeExcerpt(std::string_view line, uint32_t column) {
  const size_t target = column > 0 ? column - 1 : 0;
  const size_t begin = line.size() > kWindow && target > kWindow / 2 ? target - kWindow / 2 : 0;
  Excerpt out;
  if (begin > 0) {
    out.line = "...";
    out.caret = "   ";
  }
  size_t at = begin;
  while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) at++;
  size_t shown = 0;
  while (at < line.size() && shown < kWindow) {
    const size_t length = std::max<size_t>(Utf8Length(line, at), 1);
    const auto byte = static_cast<unsigned char>(line[at]);
    const bool text = Utf8Length(line, at) > 0 && (byte >= 0x20 || byte == '\t') && byte != 0x7f;
    if (at < target) out.caret += byte == '\t' ? '\t' : ' ';
    out.line += text ? std::string(line.substr(at, length)) : "?";
    at += length;
    shown++;
  }
  if (at < line.size()) out.line += "...";
  out.caret += '^';
  return out;
}

// Insertions, deletions, substitutions, and swaps of neighbours.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    two_up.swap(up);
    up.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

Source::Source(std::string name, std::string_view text) : name_(std::move(name)) {
  text_.reserve(text.size());
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    text_ += text[i];
  }
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); i++) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

std::string_view Source::Line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const size_t begin = line_starts_[number - 1];
  const size_t end = std::min(text_.find('\n', begin), text_.size());
  return std::string_view(text_).substr(begin, end - begin);
}

size_t Source::Offset(Position at) const {
  if (at.line == 0 || at.line > line_starts_.size() || at.column == 0) return text_.size();
  return std::min(line_starts_[at.line - 1] + at.column - 1, text_.size());
}

std::string Render(const Source &source, const Diagnostic &diagnostic) {
  std::string out;
  const char *severity = SeverityName(diagnostic.severity);
  if (diagnostic.at.line == 0) {
    out = fmt::format("{}: {}: {}\n", source.name(), severity, diagnostic.message);
  } else {
    const Excerpt excerpt = MakeExcerpt(source.Line(diagnostic.at.line), diagnostic.at.column);
    out = fmt::format("{}:{}:{}: {}: {}\n", source.name(), diagnostic.at.line, diagnostic.at.column, severity,
                      diagnostic.message);
    out += fmt::format("{:5} | {}\n      | {}\n", diagnostic.at.line, excerpt.line, excerpt.caret);
  }
  if (!diagnostic.hint.empty()) out += fmt::format("      = hint: {}\n", diagnostic.hint);
  return out;
}

std::string Render(const Source &source, const Diagnostics &diagnostics) {
  std::string out;
  for (const Diagnostic &diagnostic : diagnostics) out += Render(source, diagnostic);
  return out;
}

size_t Utf8Length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const uint32_t first = byte(0);
  if (first < 0x80) return at < text.size() ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4) return 0;
  uint32_t code = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const uint32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
  return length;
}

std::string Nearest(std::string_view word, const std::vector<std::string> &names) {
  if (word.empty() || word.size() > 64) return {};
  const size_t limit = std::max<size_t>(1, word.size() / 3);
  std::string best;
  size_t best_distance = limit + 1;
  for (const std::string &name : names) {
    if (name.size() > word.size() + limit || word.size() > name.size() + limit) continue;
    const size_t distance = EditDistance(word, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace genevent
