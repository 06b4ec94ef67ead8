// SPDX-License-Identifier: MIT
// The stub header: per event its documentation, the hook, and one macro.
//
// The macro's body declares one typed temporary per field (so that the compiler checks the arguments), then
// either runs through the pad with a record of where the temporaries live, or hands the frame to the stub.
// Which one, the hook's mode says.
#include <fmt/format.h>

#include <algorithm>

#include "ctext.hpp"
#include "emit.hpp"
#include "macro.hpp"

namespace genevent {
namespace {

std::string FieldRemark(const Model &model, const Field &field) {
  std::string type = TypeText(model, field);
  if (field.counted() || field.kind == Kind::kString) type += fmt::format(", at most {}", field.max);
  return field.doc.empty() ? fmt::format("({})", type) : fmt::format("{} ({})", field.doc, type);
}

void WriteEventDoc(const Model &model, const Event &event, const Parameters &parameters, std::string *text) {
  const auto add = [&](const std::string &first, const std::string &body) {
    const std::vector<std::string> lines = CommentLines(body, 72);
    *text += fmt::format(" * {}{}\n", first, lines[0]);
    for (size_t i = 1; i < lines.size(); i++)
      *text += lines[i].empty() ? " *\n" : fmt::format(" *\t{}\n", lines[i]);
  };
  *text += "\n/*\n";
  add(event.sites.empty() ? fmt::format("gkhi_{} - ", Symbol(model, event))
                          : fmt::format("{}:{} - ", model.provider, event.name),
      event.doc.empty() ? "(not documented)" : event.doc);
  for (size_t i = 0; i < event.fields.size(); i++) {
    add(fmt::format("@{}: ", parameters[i][0].name), FieldRemark(model, event.fields[i]));
    if (parameters[i].size() > 1) add(fmt::format("@{}: ", parameters[i][1].name), "number of elements");
  }
  if (event.deprecated) {
    add("Deprecated", event.deprecated_by.empty() ? "." : fmt::format(": use {}.", event.deprecated_by));
  }
  if (!event.sites.empty()) add("Placed by the compiler (site:), so there is nothing to call.", "");
  *text += " */\n";
}

// The hook itself, and what asks for it and fires it.
std::string HookText(const Model &model, const Event &event, Shape shape, const Parameters &parameters) {
  const std::string symbol = Symbol(model, event);
  const bool bare = shape == Shape::kBare;
  std::string text = fmt::format("GKHI_DEFINE_{}({}, \"{}:{}\", 0x{:08x}, 0x{:08x}, {})\n",
                                 bare ? "BARE" : "HOOK", symbol, model.provider, event.name,
                                 event.layout_hash & 0xffffffff, event.layout_hash >> 32, event.fixed_words);
  // A bare marker has no switch of its own to ask.
  text += bare ? fmt::format("#define gkhi_{}_enabled() 1\n", symbol)
               : fmt::format("#define gkhi_{0}_enabled() gkhi_armed_{0}()\n", symbol);
  return text + HookMacro(model, event, shape, parameters);
}

void WriteEvent(const Model &model, const Event &event, std::string *text) {
  const Parameters parameters = MakeParameters(event);
  WriteEventDoc(model, event, parameters, text);
  if (!event.sites.empty()) return;
  const std::string symbol = Symbol(model, event);
  *text += "#ifdef GKHI_CONFIG_OFF\n";
  *text += fmt::format("int gkhi_check_{}({});\n", symbol, TypeList(parameters));
  *text += fmt::format("#define gkhi_{0}({1}) ((void)sizeof(gkhi_check_{0}({1})))\n", symbol,
                       NameList(parameters));
  *text += fmt::format("#define gkhi_{}_enabled() 0\n", symbol);
  // Where code is not patched a bare marker is a call behind a test, like any hook.
  if (event.bare())
    *text += "#elif defined(GKHI_NO_PATCHING)\n" + HookText(model, event, Shape::kHook, parameters);
  const Shape shape = event.bare() ? Shape::kBare : event.has_marker ? Shape::kHook : Shape::kCall;
  *text += "#else\n" + HookText(model, event, shape, parameters) + "#endif\n";
}

void WriteEnum(const Model &model, const EnumType &type, std::string *text) {
  const std::string prefix = Upper(fmt::format("gkhi_{}_{}", model.provider, type.name));
  *text += "\n";
  if (!type.doc.empty()) {
    *text += "/*\n";
    for (const std::string &line : CommentLines(type.doc, 74)) *text += fmt::format(" * {}\n", line);
    *text += " */\n";
  }
  const auto fits = [&](const Enumerator &value) {
    const auto number = static_cast<int64_t>(value.value);
    return type.is_signed ? number >= INT32_MIN && number <= INT32_MAX : value.value <= INT32_MAX;
  };
  const bool plain = std::all_of(type.values.begin(), type.values.end(), fits);
  if (plain) *text += fmt::format("enum gkhi_{}_{} {{\n", model.provider, type.name);
  for (const Enumerator &value : type.values) {
    const std::string constant = fmt::format("{}_{}", prefix, Upper(value.name));
    std::string remark =
        value.doc.empty() ? "" : fmt::format("\t/* {} */", CommentLines(value.doc, SIZE_MAX)[0]);
    *text += plain ? fmt::format("\t{} = {},{}\n", constant, EnumLiteral(type, value), remark)
                   : fmt::format("#define {} {}{}\n", constant, EnumLiteral(type, value), remark);
  }
  if (plain) *text += "};\n";
}

}  // namespace

std::string Symbol(const Model &model, const Event &event) {
  return model.provider + "_" + event.name;
}

std::string EmitHeader(const Model &model) {
  const std::string guard = Upper(fmt::format("gkhi_events_{}_h", model.provider));
  std::string text = FileHead(model, "hook macros");
  if (!model.doc.empty()) {
    text += "/*\n";
    for (const std::string &line : CommentLines(model.doc, 74))
      text += line.empty() ? " *\n" : " * " + line + "\n";
    text += " */\n";
  }
  text += fmt::format("#ifndef {0}\n#define {0}\n\n#include <gkhi/hook.h>\n", guard);
  const auto floats = [](const Event &event) {
    return std::any_of(event.fields.begin(), event.fields.end(),
                       [](const Field &field) { return field.kind == Kind::kFloat; });
  };
  if (std::any_of(model.events.begin(), model.events.end(), floats)) {
    text += fmt::format("\n#ifdef __KERNEL__\n#error \"{}: f64 fields are for user space\"\n#endif\n",
                        model.provider);
  }
  for (const EnumType &type : model.enums) WriteEnum(model, type, &text);
  for (const Event &event : model.events) WriteEvent(model, event, &text);
  return text + fmt::format("\n#endif /* {} */\n", guard);
}

}  // namespace genevent
