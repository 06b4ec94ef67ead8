// SPDX-License-Identifier: MIT
// The top level of an event file and its events.
#include "front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>

#include "front_site.hpp"
#include "front_types.hpp"
#include "layout.hpp"
#include "message.hpp"
#include "scope.hpp"
#include "yaml.hpp"

namespace genevent {
namespace {

constexpr size_t kMaxFields = 100;

void ReadFields(const YamlNode *node, const Model &model, Event *event, Report *report) {
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::kSequence) {
    report->Error(node->at, fmt::format("'fields:' is {}; wanted a sequence of fields", Describe(*node)),
                  "fields: [{name: len, type: u32}, ...]");
    return;
  }
  if (node->items.size() > kMaxFields) {
    report->Error(node->at, fmt::format("{} fields; wanted at most {}", node->items.size(), kMaxFields));
    return;
  }
  std::map<std::string, Position> seen;
  for (const YamlNode &item : node->items) {
    Field field;
    if (!ReadField(item, model, &field, report)) {
      if (field.name.empty()) continue;
      field = Field{.name = field.name, .size = 4};  // so that references to it are not errors too
    }
    const Position at = item.Find("name")->at;
    const auto [first, fresh] = seen.emplace(field.name, at);
    if (!fresh) {
      report->Error(at, fmt::format("field '{}' is declared twice; the first is at {}:{}", field.name,
                                    first->second.line, first->second.column));
      continue;
    }
    field.at = at;
    event->fields.push_back(std::move(field));
  }
}

void ReadStates(const YamlNode *node, Event *event, Report *report) {
  if (node == nullptr) return;
  event->has_static = event->has_marker = false;
  const auto complain = [&](const YamlNode &at) {
    report->Error(at.at, fmt::format("'states:' has {}; wanted static or marker", Describe(at)),
                  at.text == "disabled" ? "every hook can be disabled: leave it out" : "");
  };
  if (node->kind != YamlNode::Kind::kSequence || node->items.empty()) {
    report->Error(node->at, fmt::format("'states:' is {}; wanted [static], [marker] or [static, marker]",
                                        node->kind == YamlNode::Kind::kSequence ? "empty" : Describe(*node)));
    event->has_static = event->has_marker = true;
    return;
  }
  for (const YamlNode &item : node->items) {
    bool *state = item.text == "static"   ? &event->has_static
                  : item.text == "marker" ? &event->has_marker
                                          : nullptr;
    if (item.kind != YamlNode::Kind::kScalar || state == nullptr) {
      complain(item);
    } else if (*state) {
      report->Error(item.at, fmt::format("state '{}' twice", item.text));
    } else {
      *state = true;
    }
  }
}

void ReadDefault(const YamlNode *node, Event *event, Report *report) {
  if (node == nullptr) return;
  Scope scope(*node, "'default:'", report);
  const YamlNode *state = scope.Take("state");
  if (const auto choice = scope.Choice("state", {"disabled", "static", "marker"})) {
    event->default_state = static_cast<State>(*choice);
    const bool missing = (event->default_state == State::kStatic && !event->has_static) ||
                         (event->default_state == State::kMarker && !event->has_marker);
    if (missing) {
      report->Error(state->at, fmt::format("default state '{}' is not among the states of event '{}'",
                                           StateName(event->default_state), event->name));
    }
  }
  if (const auto channel = scope.Name("channel", false)) {
    event->default_channel = *channel;
    if (channel->size() > 31) {
      report->Error(scope.Take("channel")->at, "the name of a channel is longer than 31 characters");
    }
  }
  scope.Finish();
}

void ReadLogLevel(Scope *scope, Event *event) {
  static const std::vector<std::string> kLevels = {"emerg",   "alert",  "crit", "err",
                                                   "warning", "notice", "info", "debug"};
  const YamlNode *node = scope->Take("loglevel");
  if (node == nullptr) return;
  const bool word = node->kind == YamlNode::Kind::kScalar && !LooksNumeric(node->text);
  if (word || node->kind != YamlNode::Kind::kScalar) {
    if (const auto level = scope->Choice("loglevel", kLevels))
      event->loglevel = static_cast<uint32_t>(*level);
    return;
  }
  if (const auto level = scope->Unsigned("loglevel", 0, 7)) event->loglevel = static_cast<uint32_t>(*level);
}

void ReadLife(Scope *scope, Event *event) {
  if (const auto choice = scope->Choice("stability", {"private", "evolving", "stable"})) {
    event->stability = static_cast<Stability>(*choice);
  }
  event->since = scope->Unsigned("since", 1, 1000000).value_or(0);
  event->deprecated = scope->Boolean("deprecated").value_or(false);
  if (const auto name = scope->Name("deprecated_by", false)) {
    event->deprecated_by = *name;
    event->deprecated = true;
  }
}

void ReadKind(Scope *scope, const YamlNode &node, Event *event, Report *report) {
  static const std::vector<std::string> kKinds = {"event", "gate"};
  static const std::vector<std::string> kReturns = {"u8",  "u16", "u32", "u64",  "s8",
                                                    "s16", "s32", "s64", "bool", "ptr"};
  if (const auto kind = scope->Choice("kind", kKinds)) event->kind = kKinds[*kind];
  const YamlNode *returns = scope->Take("returns");
  if (const auto type = scope->Choice("returns", kReturns)) event->returns = kReturns[*type];
  if (event->kind == "gate" && returns == nullptr) {
    report->Error(node.at,
                  "a gate has no 'returns:'; wanted the type of the value it can make the function return");
  }
  if (event->kind != "gate" && returns != nullptr) {
    report->Error(returns->at, "'returns:' on an event that is no gate", "add 'kind: gate'");
  }
}

void RefuseAttach(Scope *scope, Report *report) {
  const YamlNode *attach = scope->Take("attach");
  if (attach == nullptr) return;
  report->Error(attach->at, "'attach:' is not supported yet",
                "put the event into the source, or place it with 'site:'");
}

void ReadMessage(Scope *scope, Event *event, Report *report) {
  const YamlNode *node = scope->Take("message");
  const std::optional<std::string> text = scope->Text("message");
  if (text) CheckMessage(*text, *node, event->fields, report);
  event->message = text.value_or(DefaultMessage(event->fields));
}

bool ReadEvent(const YamlNode &node, const Model &model, Event *event, Report *report) {
  const YamlNode *name = node.Find("name");
  const bool named = name != nullptr && name->kind == YamlNode::Kind::kScalar;
  Scope scope(node, named ? fmt::format("event '{}'", Printable(name->text)) : "event", report);
  if (!scope.valid()) return false;
  const std::optional<std::string> good_name = scope.Name("name", true);
  event->name = good_name.value_or("");
  event->at = named ? name->at : node.at;
  event->doc = scope.Text("doc").value_or("");
  ReadKind(&scope, node, event, report);
  ReadLife(&scope, event);
  ReadLogLevel(&scope, event);
  ReadFields(scope.Take("fields"), model, event, report);
  ReadMessage(&scope, event, report);
  const YamlNode *states = scope.Take("states");
  ReadStates(states, event, report);
  ReadSites(scope.Take("site"), states, event, report);
  ReadDefault(scope.Take("default"), event, report);
  RefuseAttach(&scope, report);
  scope.Finish();
  if (!good_name) return false;
  if (!LayOut(model, event)) {
    report->Error(
        event->at,
        fmt::format("event '{}' can take more than {} bytes; wanted less", event->name, kMaxPayloadWords * 8),
        "lower 'max:' of its strings and sequences");
  }
  return true;
}

void ReadEvents(const YamlNode *node, Model *model, Report *report) {
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::kSequence) {
    report->Error(node->at, fmt::format("'events:' is {}; wanted a sequence of events", Describe(*node)),
                  "events: each begins with '- name: ...'");
    return;
  }
  if (node->items.empty()) report->Error(node->at, "'events:' is empty; wanted at least one event");
  std::map<std::string, Position> seen;
  for (const YamlNode &item : node->items) {
    Event event;
    if (!ReadEvent(item, *model, &event, report)) continue;
    const auto [first, fresh] = seen.emplace(event.name, event.at);
    if (!fresh) {
      report->Error(event.at, fmt::format("event '{}' is declared twice; the first is at {}:{}", event.name,
                                          first->second.line, first->second.column));
      continue;
    }
    model->events.push_back(std::move(event));
  }
}

// Rules between events: the names of generated macros, and what replaces what.
void CheckEvents(const Model &model, Report *report) {
  std::map<std::string, const Event *> by_name;
  std::vector<std::string> names;
  for (const Event &event : model.events) {
    by_name.emplace(event.name, &event);
    names.push_back(event.name);
  }
  for (const Event &event : model.events) {
    const auto twin = by_name.find(event.name + "_enabled");
    if (twin != by_name.end()) {
      report->Error(twin->second->at,
                    fmt::format("event '{}' would hide the query gkhi_{}_{}_enabled() of event '{}'",
                                twin->first, model.provider, event.name, event.name));
    }
    if (event.deprecated_by.empty()) continue;
    if (event.deprecated_by == event.name || by_name.count(event.deprecated_by) == 0) {
      report->Error(event.at,
                    fmt::format("event '{}' is deprecated by '{}', which is not another event of this file",
                                event.name, event.deprecated_by),
                    Suggest(event.deprecated_by, names));
    }
  }
}

void ReadLicense(Scope *scope, Model *model, Report *report) {
  const YamlNode *node = scope->Take("license");
  const std::optional<std::string> text = scope->Text("license");
  if (!text) return;
  const auto good = [](unsigned char c) { return std::isalnum(c) || std::strchr(".+-() ", c) != nullptr; };
  if (text->empty() || !std::all_of(text->begin(), text->end(), good)) {
    report->Error(node->at, fmt::format("'license:' is '{}'; wanted an SPDX expression", Printable(*text)),
                  "for example GPL-2.0-only OR MIT");
    return;
  }
  model->license = *text;
}

std::string BaseName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

Result<Checked> Load(const Source &source) {
  Result<YamlNode> root = ParseYaml(source);
  if (!root.ok()) return root.errors();
  if (root.value().kind == YamlNode::Kind::kNull)
    return Diagnostic{.at = {1, 1}, .message = "the file is empty"};
  Report report;
  Checked out;
  out.model.source_name = BaseName(source.name());
  Scope scope(root.value(), "the file", &report);
  if (scope.valid()) {
    out.model.provider = scope.Name("provider", true).value_or("");
    out.model.doc = scope.Text("doc").value_or("");
    ReadLicense(&scope, &out.model, &report);
    std::set<std::string> constants;
    if (const YamlNode *enums = scope.Take("enums"))
      ReadEnums(*enums, false, &out.model, &constants, &report);
    if (const YamlNode *flags = scope.Take("flags")) ReadEnums(*flags, true, &out.model, &constants, &report);
    ReadEvents(scope.Require("events"), &out.model, &report);
    scope.Finish();
    CheckEvents(out.model, &report);
  }
  if (report.failed()) return report.TakeErrors();
  out.warnings = report.TakeWarnings();
  return out;
}

}  // namespace genevent
