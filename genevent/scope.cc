// SPDX-License-Identifier: MIT
// Typed access to the keys of one map.
#include "scope.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace genevent {
namespace {

constexpr size_t kMaxName = 40;
constexpr size_t kMaxErrors = 50;

bool IsName(const std::string &text) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' && std::all_of(text.begin(), text.end(), good);
}

// A name near `text` that would be legal.
std::string LegalName(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9' && !out.empty()) ||
               (c == '_' && !out.empty())) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return IsName(out) && out.size() <= kMaxName ? out : "";
}

}  // namespace

void Report::Error(Position at, std::string message, std::string hint) {
  if (errors_.size() == kMaxErrors)
    errors_.push_back({Severity::kError, at, "too many errors: the rest is not shown"});
  if (errors_.size() > kMaxErrors) return;
  errors_.push_back({Severity::kError, at, std::move(message), std::move(hint)});
}

void Report::Warning(Position at, std::string message, std::string hint) {
  warnings_.push_back({Severity::kWarning, at, std::move(message), std::move(hint)});
}

std::string Suggest(const std::string &word, const std::vector<std::string> &names) {
  const std::string nearest = Nearest(word, names);
  if (!nearest.empty()) return fmt::format("did you mean '{}'?", nearest);
  if (names.empty() || names.size() > 24) return {};
  return fmt::format("known: {}", fmt::join(names, ", "));
}

bool CheckName(const YamlNode &node, const std::string &what, Report *report) {
  if (node.kind != YamlNode::Kind::kScalar) {
    report->Error(node.at, fmt::format("{} is {}; wanted a name", what, Describe(node)));
    return false;
  }
  if (!node.quoted && IsReservedWord(node.text)) {
    report->Error(
        node.at, fmt::format("{} is {}; wanted a name", what, Describe(node)),
        fmt::format("some YAML readers take it for a boolean or for nothing: write \"{}\"", node.text));
    return false;
  }
  if (!IsName(node.text)) {
    const std::string legal = LegalName(node.text);
    report->Error(
        node.at,
        fmt::format("{} '{}' is not a name; wanted a lower-case letter, then letters, digits and '_'", what,
                    Printable(node.text)),
        legal.empty() ? "" : fmt::format("for example '{}'", legal));
    return false;
  }
  if (node.text.size() > kMaxName) {
    report->Error(node.at,
                  fmt::format("{} has {} characters; wanted at most {}", what, node.text.size(), kMaxName));
    return false;
  }
  return true;
}

std::optional<std::string> ReadText(const YamlNode &node, const std::string &what, Report *report) {
  if (node.kind == YamlNode::Kind::kNull) {
    report->Error(node.at, fmt::format("{} has no value; wanted text", what));
    return std::nullopt;
  }
  if (node.kind != YamlNode::Kind::kScalar) {
    report->Error(node.at, fmt::format("{} is {}; wanted text", what, Describe(node)));
    return std::nullopt;
  }
  if (!node.quoted && (IsReservedWord(node.text) || LooksNumeric(node.text))) {
    report->Error(node.at, fmt::format("{} is {}; wanted text", what, Describe(node)),
                  fmt::format("text that reads as something else is quoted: \"{}\"", Printable(node.text)));
    return std::nullopt;
  }
  return node.text;
}

std::optional<Integer> ReadInteger(const YamlNode &node, const std::string &what, Report *report) {
  Integer value;
  if (node.kind != YamlNode::Kind::kScalar || node.quoted) {
    std::string hint;
    if (node.quoted && ParseInteger(node.text, &value) == IntegerError::kNone)
      hint = "numbers are not quoted";
    report->Error(node.at, fmt::format("{} is {}; wanted an integer", what, Describe(node)), hint);
    return std::nullopt;
  }
  switch (ParseInteger(node.text, &value)) {
    case IntegerError::kNone:
      return value;
    case IntegerError::kLeadingZero: {
      const size_t digit = std::min(node.text.find_first_not_of("-0"), node.text.size() - 1);
      report->Error(
          node.at, fmt::format("{} is '{}': octal to some YAML readers, decimal to others", what, node.text),
          fmt::format("decimal is written {}, other bases in hexadecimal: 0x...", node.text.substr(digit)));
      return std::nullopt;
    }
    case IntegerError::kTooLarge:
      report->Error(node.at, fmt::format("{} is '{}'; wanted at most 64 bits", what, Printable(node.text)));
      return std::nullopt;
    case IntegerError::kNotAnInteger:
      break;
  }
  report->Error(node.at, fmt::format("{} is {}; wanted an integer", what, Describe(node)),
                LooksNumeric(node.text)
                    ? "integers are decimal or hexadecimal (0x...), without '+', '_' or fractions"
                    : "");
  return std::nullopt;
}

Scope::Scope(const YamlNode &node, std::string what, Report *report)
    : what_(std::move(what)), report_(report), at_(node.at) {
  if (node.kind == YamlNode::Kind::kMap) {
    map_ = &node;
  } else {
    report->Error(node.at, fmt::format("{} is {}; wanted a map of keys", what_, Describe(node)));
  }
}

const YamlNode *Scope::Take(const std::string &key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return map_ == nullptr ? nullptr : map_->Find(key);
}

const YamlNode *Scope::Require(const std::string &key, const std::string &hint) {
  const YamlNode *node = Take(key);
  if (node == nullptr && map_ != nullptr) {
    report_->Error(at_, fmt::format("{} has no '{}:'", what_, key), hint);
  }
  return node;
}

std::optional<std::string> Scope::Text(const std::string &key) {
  const YamlNode *node = Take(key);
  if (node == nullptr) return std::nullopt;
  return ReadText(*node, "'" + key + ":'", report_);
}

std::optional<std::string> Scope::Name(const std::string &key, bool required) {
  const YamlNode *node = required ? Require(key) : Take(key);
  if (node == nullptr || !CheckName(*node, "'" + key + ":'", report_)) return std::nullopt;
  return node->text;
}

std::optional<uint64_t> Scope::Unsigned(const std::string &key, uint64_t least, uint64_t most) {
  const YamlNode *node = Take(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<Integer> value = ReadInteger(*node, "'" + key + ":'", report_);
  if (!value) return std::nullopt;
  if (value->negative || value->magnitude < least || value->magnitude > most) {
    report_->Error(node->at, fmt::format("'{}:' is {}; wanted {} to {}", key, node->text, least, most));
    return std::nullopt;
  }
  return value->magnitude;
}

std::optional<bool> Scope::Boolean(const std::string &key) {
  const YamlNode *node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == YamlNode::Kind::kScalar && !node->quoted) {
    if (node->text == "true") return true;
    if (node->text == "false") return false;
  }
  report_->Error(node->at, fmt::format("'{}:' is {}; wanted true or false", key, Describe(*node)));
  return std::nullopt;
}

std::optional<size_t> Scope::Choice(const std::string &key, const std::vector<std::string> &choices) {
  const YamlNode *node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == YamlNode::Kind::kScalar) {
    const auto found = std::find(choices.begin(), choices.end(), node->text);
    if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  }
  const std::string nearest = node->kind == YamlNode::Kind::kScalar ? Nearest(node->text, choices) : "";
  report_->Error(node->at,
                 fmt::format("'{}:' is {}; wanted one of {}", key, Describe(*node), fmt::join(choices, ", ")),
                 nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
  return std::nullopt;
}

void Scope::Finish() {
  if (map_ == nullptr) return;
  for (const YamlNode &key : map_->keys) {
    if (std::find(known_.begin(), known_.end(), key.text) != known_.end()) continue;
    report_->Error(key.at, fmt::format("{} has no key '{}'", what_, Printable(key.text)),
                   Suggest(key.text, known_));
  }
}

}  // namespace genevent
