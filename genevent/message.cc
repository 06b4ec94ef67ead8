// SPDX-License-Identifier: MIT
// Checks message templates.
//
//   template := { text | "{{" | "}}" | "{" FIELD [ ":" ( "d" | "x" | "o" ) ] "}" }
#include "message.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace genevent {
namespace {

bool IntegerLike(const Field &field) {
  return field.kind != Kind::kString && field.kind != Kind::kBinary && field.kind != Kind::kFloat;
}

bool CheckPlace(const std::string &place, Position at, const std::vector<Field> &fields, Report *report) {
  const size_t colon = place.find(':');
  const std::string name = place.substr(0, colon);
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field &candidate) { return candidate.name == name; });
  if (field == fields.end()) {
    std::vector<std::string> names;
    names.reserve(fields.size());
    for (const Field &candidate : fields) names.push_back(candidate.name);
    report->Error(at,
                  fmt::format("the message names '{}', which is not a field of this event", Printable(name)),
                  Suggest(name, names));
    return false;
  }
  if (colon == std::string::npos) return true;
  const std::string format = place.substr(colon + 1);
  if (format != "d" && format != "x" && format != "o") {
    report->Error(at, fmt::format("format '{}' in the message; wanted d, x or o", Printable(format)));
    return false;
  }
  if (!IntegerLike(*field)) {
    report->Error(
        at, fmt::format("format '{}' in the message on field '{}', which is not an integer", format, name));
    return false;
  }
  return true;
}

}  // namespace

bool CheckMessage(const std::string &text, const YamlNode &node, const std::vector<Field> &fields,
                  Report *report) {
  bool good = true;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\n') {
      report->Error(node.at, "the message has a line break; wanted one line");
      return false;
    }
    if (text[i] != '{' && text[i] != '}') continue;
    if (i + 1 < text.size() && text[i + 1] == text[i]) {
      i++;
      continue;
    }
    const size_t close = text[i] == '{' ? text.find_first_of("{}", i + 1) : std::string::npos;
    if (close == std::string::npos || text[close] != '}') {
      report->Error(node.at,
                    fmt::format("'{}' without its partner at character {} of the message", text[i], i + 1),
                    fmt::format("a plain brace is written twice: {0}{0}", text[i]));
      return false;
    }
    good &= CheckPlace(text.substr(i + 1, close - i - 1), node.at, fields, report);
    i = close;
  }
  return good;
}

std::string DefaultMessage(const std::vector<Field> &fields) {
  std::string out;
  for (const Field &field : fields)
    out += fmt::format("{}{}={{{}}}", out.empty() ? "" : " ", field.name, field.name);
  return out;
}

}  // namespace genevent
