// SPDX-License-Identifier: MIT
// Reads and checks `site:`. What the expressions mean is the pass's business: it knows the source.
#include "front_site.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace genevent {
namespace {

const std::vector<std::string> kPlaces = {"entry", "return", "before_call", "after_call", "line"};

// One argument per field, and for counted fields one more for the count.
std::vector<std::string> WantedArguments(const Event &event) {
  std::vector<std::string> names;
  for (const Field &field : event.fields) {
    names.push_back(field.name);
    if (field.counted()) names.push_back(field.name + ".len");
  }
  return names;
}

// Where the text of a scalar begins: behind its quote.
Position TextAt(const YamlNode &node) {
  return {node.at.line, node.at.column + (node.kind == YamlNode::Kind::kScalar && node.quoted ? 1 : 0)};
}

std::optional<std::string> ReadExpression(const YamlNode &node, const std::string &what, Report *report) {
  if (node.kind == YamlNode::Kind::kScalar && !node.text.empty() &&
      node.text.find('\n') == std::string::npos && (node.quoted || !IsReservedWord(node.text))) {
    return node.text;
  }
  report->Error(
      node.at, fmt::format("{} is {}; wanted a C expression", what, Describe(node)),
      node.kind == YamlNode::Kind::kScalar ? "one line; quote what YAML could take for something else" : "");
  return std::nullopt;
}

void ReadArguments(Scope *scope, const Event &event, Site *site, Report *report) {
  const std::vector<std::string> wanted = WantedArguments(event);
  const YamlNode *args =
      wanted.empty() ? scope->Take("args") : scope->Require("args", "args: {FIELD: EXPRESSION, ...}");
  if (args == nullptr) return;
  if (args->kind != YamlNode::Kind::kMap) {
    report->Error(args->at,
                  fmt::format("'args:' is {}; wanted a map of fields and expressions", Describe(*args)));
    return;
  }
  for (size_t i = 0; i < args->keys.size(); i++) {
    const YamlNode &key = args->keys[i];
    if (std::find(wanted.begin(), wanted.end(), key.text) == wanted.end()) {
      report->Error(key.at,
                    fmt::format("'args:' has '{}', which is not a field of event '{}'", Printable(key.text),
                                event.name),
                    Suggest(key.text, wanted));
    }
  }
  for (const std::string &name : wanted) {
    const YamlNode *value = args->Find(name);
    if (value == nullptr) {
      report->Error(args->at, fmt::format("'args:' has no '{}'", name),
                    name.find('.') == std::string::npos ? "" : "the number of elements");
      continue;
    }
    if (auto text = ReadExpression(*value, fmt::format("'{}:'", name), report)) {
      site->arguments.push_back({.field = name, .expression = std::move(*text), .at = TextAt(*value)});
    }
  }
}

// callee: with before_call and after_call; text: with line; neither elsewhere.
std::string ReadCompanion(Scope *scope, const std::string &key, bool wanted, const std::string &where,
                          Position *at, Report *report) {
  const YamlNode *node =
      wanted ? scope->Require(key, fmt::format("'at: {}' wants it", where)) : scope->Take(key);
  if (node == nullptr) return {};
  if (!wanted) {
    report->Error(node->at, fmt::format("'{}:' with 'at: {}'", key, where),
                  key == "callee" ? "it belongs to before_call and after_call" : "it belongs to line");
    return {};
  }
  *at = TextAt(*node);
  return scope->Text(key).value_or("");
}

bool IsCName(const std::string &text) {
  const auto good = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ':' || c == '~'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), good);
}

std::string ReadFunction(Scope *scope, const std::string &key, Position *at, Report *report) {
  const YamlNode *node = scope->Require(key);
  if (node == nullptr) return {};
  *at = TextAt(*node);
  std::string name = scope->Text(key).value_or("");
  if (name.empty() || IsCName(name)) return name;
  report->Error(node->at, fmt::format("'{}:' is '{}'; wanted the name of a function", key, Printable(name)));
  return {};
}

void ReadSite(const YamlNode &node, const Event &event, Site *site, Report *report) {
  Scope scope(node, "'site:'", report);
  if (!scope.valid()) return;
  site->at = node.at;
  if (const YamlNode *file = scope.Require("file")) {
    site->file_at = TextAt(*file);
    site->file = scope.Text("file").value_or("");
  }
  site->function = ReadFunction(&scope, "function", &site->function_at, report);
  const YamlNode *at = scope.Require("at", "one of entry, return, before_call, after_call, line");
  const std::optional<size_t> place = at == nullptr ? std::nullopt : scope.Choice("at", kPlaces);
  if (place) {
    site->where = kPlaces[*place];
    site->where_at = TextAt(*at);
    const bool call = site->where == "before_call" || site->where == "after_call";
    site->callee = ReadCompanion(&scope, "callee", call, site->where, &site->callee_at, report);
    site->text = ReadCompanion(&scope, "text", site->where == "line", site->where, &site->text_at, report);
  } else {
    scope.Take("callee");
    scope.Take("text");
  }
  site->optional = scope.Boolean("optional").value_or(false);
  ReadArguments(&scope, event, site, report);
  scope.Finish();
}

}  // namespace

void ReadSites(const YamlNode *node, const YamlNode *states, Event *event, Report *report) {
  if (node == nullptr) return;
  if (states != nullptr && event->has_static) {
    report->Error(states->at, "an event with 'site:' is a bare marker; wanted 'states: [marker]'",
                  "leave 'states:' out");
  }
  event->has_static = false;
  event->has_marker = true;
  if (node->kind == YamlNode::Kind::kSequence) {
    if (node->items.empty()) report->Error(node->at, "'site:' is empty; wanted at least one place");
    for (const YamlNode &item : node->items) ReadSite(item, *event, &event->sites.emplace_back(), report);
  } else {
    ReadSite(*node, *event, &event->sites.emplace_back(), report);
  }
}

}  // namespace genevent
