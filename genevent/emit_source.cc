// SPDX-License-Identifier: MIT
// The descriptor source: per event its enumerators, fields, schema texts and struct gkhi_event in section
// "gkhi_events"; at the end the registration.
#include <fmt/format.h>

#include "ctext.hpp"
#include "emit.hpp"

namespace genevent {
namespace {

const char *TypeConstant(Kind kind) {
  switch (kind) {
    case Kind::kUint:
      return "GKHI_T_UINT";
    case Kind::kInt:
      return "GKHI_T_INT";
    case Kind::kBool:
      return "GKHI_T_BOOL";
    case Kind::kPtr:
      return "GKHI_T_PTR";
    case Kind::kFloat:
      return "GKHI_T_FLOAT";
    case Kind::kEnum:
      return "GKHI_T_ENUM";
    case Kind::kFlags:
      return "GKHI_T_FLAGS";
    case Kind::kString:
      return "GKHI_T_STRING";
    case Kind::kBinary:
      return "GKHI_T_BINARY";
  }
  return "GKHI_T_UINT";
}

std::string Offset(uint32_t offset) {
  return offset == kNoOffset ? "GKHI_NO_OFFSET" : fmt::format("{}", offset);
}

std::string StringOrNull(const std::string &text) {
  return text.empty() ? "NULL" : CString(text);
}

void WriteEnum(const Model &model, const EnumType &type, std::string *text) {
  *text += fmt::format("\nstatic const struct gkhi_enumerator gkhi_enum_{}_{}[] = {{\n", model.provider,
                       type.name);
  for (const Enumerator &value : type.values) {
    *text += fmt::format("\t{{ {}, (int64_t){} }},\n", CString(value.name), EnumLiteral(type, value));
  }
  *text += "};\n";
}

void WriteFields(const Model &model, const Event &event, std::string *text) {
  if (event.fields.empty()) return;
  *text += fmt::format("static const struct gkhi_field gkhi_fields_{}[] = {{\n", Symbol(model, event));
  for (const Field &field : event.fields) {
    const EnumType *type = EnumOf(model, field);
    *text += fmt::format("\t{{\n\t\t.name = {},\n\t\t.type = {},\n\t\t.size = {},\n", CString(field.name),
                         TypeConstant(field.kind), field.size);
    *text += fmt::format("\t\t.form = GKHI_FORM_{},\n\t\t.show = GKHI_SHOW_{},\n",
                         Upper(FormName(field.form)), Upper(ShowName(field.show)));
    *text += fmt::format("\t\t.offset = {},\n\t\t.len_offset = {},\n\t\t.max = {},\n", Offset(field.offset),
                         Offset(field.len_offset), field.max);
    if (type != nullptr) {
      *text += fmt::format("\t\t.n_enumerators = {},\n\t\t.enumerators = gkhi_enum_{}_{},\n",
                           type->values.size(), model.provider, type->name);
    }
    *text += "\t},\n";
  }
  *text += "};\n";
}

std::string StatesText(const Event &event) {
  if (!event.has_static) return "GKHI_HAS_MARKER";
  return event.has_marker ? "GKHI_HAS_STATIC | GKHI_HAS_MARKER" : "GKHI_HAS_STATIC";
}

void WriteEvent(const Model &model, const Event &event, std::string *text) {
  const std::string symbol = Symbol(model, event);
  *text += fmt::format("\n/* {}:{} */\n", model.provider, event.name);
  WriteFields(model, event, text);
  *text += fmt::format("static const struct gkhi_event gkhi_event_{} GKHI_EVENT = {{\n", symbol);
  *text += fmt::format("\t.abi = GKHI_ABI_VERSION,\n\t.states = {},\n\t.stability = GKHI_{},\n",
                       StatesText(event), Upper(StabilityName(event.stability)));
  *text += fmt::format("\t.default_state = GKHI_{},\n\t.loglevel = {},\n\t.layout = 0x{:016x}ull,\n",
                       Upper(StateName(event.default_state)), event.loglevel, event.layout_hash);
  *text += fmt::format("\t.provider = {},\n\t.name = {},\n\t.doc = {},\n", CString(model.provider),
                       CString(event.name), StringOrNull(event.doc));
  *text += fmt::format("\t.message = {},\n\t.default_channel = {},\n", CString(event.message),
                       CString(event.default_channel));
  if (!event.fields.empty()) {
    *text += fmt::format("\t.fields = gkhi_fields_{},\n\t.n_fields = {},\n", symbol, event.fields.size());
  }
  *text += fmt::format("\t.fixed_words = {},\n\t.n_tails = {},\n\t.max_words = {},\n", event.fixed_words,
                       event.tails, event.max_words);
  *text += fmt::format("\t.json = {},\n", CStringLines(EmitEventJson(model, event), "\t\t"));
  *text += fmt::format("\t.ctf = {},\n}};\n", CStringLines(EmitEventTsdl(model, event), "\t\t"));
  // The kernel's hooks are objects of the descriptor source; in user space the sites bring them along.
  *text += fmt::format("GKHI_INSTANCE{}({}, \"{}:{}\", 0x{:08x}, 0x{:08x}, {})\n",
                       event.bare() ? "_BARE" : "", symbol, model.provider, event.name,
                       event.layout_hash & 0xffffffff, event.layout_hash >> 32, event.fixed_words);
}

}  // namespace

std::string EmitSource(const Model &model) {
  std::string text = FileHead(model, "event descriptors");
  text +=
      "#ifdef __KERNEL__\n#include <gkhi/module_kernel.h>\n#else\n#include <gkhi/module_user.h>\n#endif\n";
  for (const EnumType &type : model.enums) {
    for (const Event &event : model.events) {
      bool used = false;
      for (const Field &field : event.fields) used |= EnumOf(model, field) == &type;
      if (!used) continue;
      WriteEnum(model, type, &text);
      break;
    }
  }
  for (const Event &event : model.events) WriteEvent(model, event, &text);
  return text + fmt::format("\nGKHI_DEFINE_MODULE(gkhi_event_{})\n", Symbol(model, model.events.front()));
}

}  // namespace genevent
