// SPDX-License-Identifier: MIT
// The sites header: what the clang pass needs of the events, as JSON in a constant of the translation unit.
#include <fmt/format.h>

#include "ctext.hpp"
#include "emit.hpp"
#include "json.hpp"

namespace genevent {
namespace {

std::string PositionJson(const char *key, Position at) {
  return at.line == 0 ? "" : fmt::format(R"(,"{}":[{},{}])", key, at.line, at.column);
}

std::string TextJson(const char *key, const std::string &text) {
  return text.empty() ? "" : fmt::format(R"(,"{}":{})", key, JsonString(text));
}

std::string SiteJson(const Site &site) {
  std::string out = fmt::format(R"({{"file":{},"function":{},"at":"{}")", JsonString(site.file),
                                JsonString(site.function), site.where);
  out += TextJson("callee", site.callee) + TextJson("text", site.text);
  out += fmt::format(R"(,"optional":{})", site.optional);
  out += PositionJson("pos", site.at) + PositionJson("file_pos", site.file_at);
  out += PositionJson("function_pos", site.function_at) + PositionJson("at_pos", site.where_at);
  out += PositionJson("callee_pos", site.callee_at) + PositionJson("text_pos", site.text_at) + R"(,"args":[)";
  for (size_t i = 0; i < site.arguments.size(); i++) {
    const SiteArgument &argument = site.arguments[i];
    out += fmt::format(R"({}{{"field":{},"expr":{}{}}})", i > 0 ? "," : "", JsonString(argument.field),
                       JsonString(argument.expression), PositionJson("pos", argument.at));
  }
  return out + "]}";
}

std::string FieldJson(const Model &model, const Field &field) {
  return fmt::format(R"({{"name":{},"declared":{},"type":"{}","signed":{},"size":{},"form":{},"max":{}}})",
                     JsonString(field.name), JsonString(TypeText(model, field)),
                     static_cast<char>(field.kind), field.is_signed, field.size, static_cast<int>(field.form),
                     field.max);
}

std::string EventJson(const Model &model, const Event &event) {
  std::string out =
      fmt::format(R"({{"event":"{}:{}","symbol":"{}","layout":"0x{:016x}","words":{},"fields":[)",
                  model.provider, event.name, Symbol(model, event), event.layout_hash, event.fixed_words);
  for (size_t i = 0; i < event.fields.size(); i++) {
    out += (i > 0 ? "," : "") + FieldJson(model, event.fields[i]);
  }
  out += R"(],"sites":[)";
  for (size_t i = 0; i < event.sites.size(); i++) out += (i > 0 ? "," : "") + SiteJson(event.sites[i]);
  return out + "]}";
}

// Settings of the pass that the build chooses by a macro; one constant each.
std::string OptionsText() {
  static constexpr const char *kOptions[][2] = {{"GKHI_PASS_STRIP_DEBUG", "strip_debug"},
                                                {"GKHI_PASS_STRESS", "stress"}};
  std::string out = "#ifndef GKHI_SITES_OPTIONS\n#define GKHI_SITES_OPTIONS\n";
  out += "#define GKHI_SITES_STR1(x) #x\n#define GKHI_SITES_STR(x) GKHI_SITES_STR1(x)\n";
  for (const auto &[macro, key] : kOptions) {
    out += fmt::format("#ifdef {}\n", macro);
    out += fmt::format(
        "static const char gkhi_site_config_{}[] __attribute__((used, nodebug, "
        "section(\"gkhi_site_config\"))) =\n",
        key);
    out += fmt::format("\t\"{{\\\"gkhi_sites\\\":1,\\\"{}\\\":\" GKHI_SITES_STR({}) \"}}\";\n#endif\n", key,
                       macro);
  }
  return out + "#endif\n";
}

}  // namespace

std::string EmitSites(const Model &model, const std::string &yaml_path) {
  std::string json = fmt::format(R"({{"gkhi_sites":1,"provider":"{}","yaml":{},"events":[)", model.provider,
                                 JsonString(yaml_path));
  for (size_t i = 0; i < model.events.size(); i++)
    json += (i > 0 ? "," : "") + EventJson(model, model.events[i]);
  json += "]}";
  std::string text = FileHead(model, "sites in untouched source");
  text += fmt::format("#if !defined(__ASSEMBLER__) && !defined(GKHI_SITES_{0})\n#define GKHI_SITES_{0}\n",
                      model.provider);
  text += fmt::format(
      "#ifndef GKHI_PASS\n#error \"{} puts hooks into untouched source: compile with gkhi-cc (clang 14, 16 "
      "or 19)\"\n"
      "#endif\n#pragma GCC system_header\n",
      CommentLines(model.source_name, SIZE_MAX).front());
  text += fmt::format(
      "static const char gkhi_site_config_{}[] __attribute__((used, nodebug, section(\"gkhi_site_config\"))) "
      "=\n\t{};\n",
      model.provider, CStringLines(json, "\t"));
  return text + OptionsText() + "#endif\n";
}

}  // namespace genevent
