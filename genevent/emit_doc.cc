// SPDX-License-Identifier: MIT
// Markdown reference of a provider.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ctext.hpp"
#include "emit.hpp"
#include "json.hpp"

namespace genevent {
namespace {

// Text inside a paragraph or a table cell: on one line, nothing in it is markup.
std::string Plain(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Code span; a '|' would end the table cell.
std::string Code(const std::string &text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  const bool tick = text.find('`') != std::string::npos;
  return tick ? fmt::format("`` {} ``", safe) : fmt::format("`{}`", safe);
}

std::string StatesText(const Event &event) {
  if (!event.sites.empty()) return "disabled, marker (placed by the compiler)";
  if (!event.has_static) return "disabled, marker (bare)";
  return event.has_marker ? "disabled, static, marker" : "disabled, static";
}

std::string LifeText(const Event &event) {
  std::string out = StabilityName(event.stability);
  if (event.since != 0) out += fmt::format(", since {}", event.since);
  if (event.deprecated) {
    out += event.deprecated_by.empty() ? ", **deprecated**"
                                       : fmt::format(", **deprecated** by `{}`", event.deprecated_by);
  }
  return out;
}

std::string FieldRow(const Model &model, const Field &field) {
  std::string type = TypeText(model, field);
  if (field.show != Show::kDec && field.kind != Kind::kPtr && field.kind != Kind::kBinary) {
    type += fmt::format(", {}", ShowName(field.show));
  }
  std::string place = field.tail ? "tail" : fmt::format("{}", field.offset);
  if (field.counted()) place = fmt::format("tail, count at {}", field.len_offset);
  const bool bounded = field.counted() || field.kind == Kind::kString;
  return fmt::format("| {} | {} | {} | {} | {} |\n", Code(field.name), Plain(type),
                     bounded ? fmt::format("{}", field.max) : "", place, Plain(field.doc));
}

std::string SiteLine(const Site &site) {
  std::string where = site.where;
  if (!site.callee.empty()) where += " " + Code(site.callee);
  if (!site.text.empty()) where += " " + Code(site.text);
  return fmt::format("- site: {} in {}, {}{}\n", where, Code(site.function), Code(site.file),
                     site.optional ? " (optional)" : "");
}

std::string EventText(const Model &model, const Event &event) {
  std::string out = fmt::format("\n## {}:{}\n\n", model.provider, event.name);
  if (!event.doc.empty()) out += Plain(event.doc) + "\n\n";
  if (event.sites.empty()) {
    std::vector<std::string> words;
    for (const Field &field : event.fields) {
      words.push_back(field.name);
      if (field.counted()) words.push_back(field.name + "_len");
    }
    out += fmt::format("    gkhi_{}({})\n\n", Symbol(model, event), fmt::join(words, ", "));
  }
  if (event.kind == "gate") out += fmt::format("- gate, returns `{}`\n", event.returns);
  out += fmt::format("- states: {}; at first {}, channel `{}`\n- stability: {}\n", StatesText(event),
                     StateName(event.default_state), event.default_channel, LifeText(event));
  if (!event.message.empty()) out += fmt::format("- message: {}\n", Code(event.message));
  out += fmt::format("- layout: `0x{:016x}`, at most {} bytes\n", event.layout_hash, 8 * event.max_words);
  for (const Site &site : event.sites) out += SiteLine(site);
  if (event.fields.empty()) return out;
  out += "\n| field | type | at most | offset | |\n|---|---|---|---|---|\n";
  for (const Field &field : event.fields) out += FieldRow(model, field);
  return out;
}

std::string EnumText(const EnumType &type) {
  std::string out = fmt::format("\n### {} {}\n\n", type.is_flags ? "flags" : "enum", type.name);
  if (!type.doc.empty()) out += Plain(type.doc) + "\n\n";
  out += fmt::format("Base type {}{}.\n\n| name | value | |\n|---|---|---|\n", type.is_signed ? 's' : 'u',
                     type.size * 8);
  for (const Enumerator &value : type.values) {
    out += fmt::format("| {} | {} | {} |\n", Code(value.name),
                       type.is_flags ? fmt::format("0x{:x}", value.value) : EnumValueText(type, value),
                       Plain(value.doc));
  }
  return out;
}

}  // namespace

std::string EmitDoc(const Model &model) {
  std::string out = fmt::format("# Events of {}\n\n", model.provider);
  std::string head = FileHead(model, "event reference");
  for (size_t at; (at = head.find("/* ")) != std::string::npos;) head.replace(at, 3, "<!-- ");
  for (size_t at; (at = head.find(" */")) != std::string::npos;) head.replace(at, 3, " -->");
  out = head + "\n" + out;
  if (!model.doc.empty()) out += Plain(model.doc) + "\n\n";
  out += "| event | |\n|---|---|\n";
  for (const Event &event : model.events) {
    out += fmt::format("| {} | {} |\n", Code(model.provider + ":" + event.name), Plain(event.doc));
  }
  for (const Event &event : model.events) out += EventText(model, event);
  if (!model.enums.empty()) out += "\n## Enums and flags\n";
  for (const EnumType &type : model.enums) out += EnumText(type);
  return out;
}

}  // namespace genevent
