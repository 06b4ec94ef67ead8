// SPDX-License-Identifier: MIT
// The schema of an event as one line of JSON.
#include <fmt/format.h>

#include "emit.hpp"
#include "json.hpp"

namespace genevent {
namespace {

std::string FieldJson(const Model &model, const Field &field) {
  std::string out =
      fmt::format(R"({{"name":{},"type":{},"code":"{}","signed":{},"size":{},"form":"{}","show":"{}")",
                  JsonString(field.name), JsonString(TypeText(model, field)), static_cast<char>(field.kind),
                  field.is_signed, field.size, FormName(field.form), ShowName(field.show));
  if (!field.tail) out += fmt::format(R"(,"offset":{})", field.offset);
  if (field.counted()) out += fmt::format(R"(,"len_offset":{})", field.len_offset);
  out += fmt::format(R"(,"max":{})", field.max);
  if (const EnumType *type = EnumOf(model, field))
    out += fmt::format(R"(,"enum":{})", JsonString(type->name));
  if (!field.doc.empty()) out += fmt::format(R"(,"doc":{})", JsonString(field.doc));
  return out + "}";
}

std::string EnumJson(const EnumType &type) {
  std::string out = fmt::format(R"({}:{{"kind":"{}","signed":{},"size":{},"values":[)", JsonString(type.name),
                                type.is_flags ? "flags" : "enum", type.is_signed, type.size);
  for (size_t i = 0; i < type.values.size(); i++) {
    const Enumerator &value = type.values[i];
    out += fmt::format("{}[{},{}]", i > 0 ? "," : "", JsonString(value.name), EnumValueText(type, value));
  }
  return out + "]}";
}

// The enums that the event's fields use, each once.
std::string EnumsJson(const Model &model, const Event &event) {
  std::string out;
  for (size_t i = 0; i < model.enums.size(); i++) {
    for (const Field &field : event.fields) {
      if (field.enum_index != static_cast<int>(i)) continue;
      out += (out.empty() ? "" : ",") + EnumJson(model.enums[i]);
      break;
    }
  }
  return out;
}

std::string StatesJson(const Event &event) {
  if (!event.has_static) return R"(["marker"])";
  return event.has_marker ? R"(["static","marker"])" : R"(["static"])";
}

}  // namespace

std::string EmitEventJson(const Model &model, const Event &event) {
  std::string out = fmt::format(R"({{"layout":"0x{:016x}","provider":{},"name":{},"doc":{},"message":{})",
                                event.layout_hash, JsonString(model.provider), JsonString(event.name),
                                JsonString(event.doc), JsonString(event.message));
  out += fmt::format(R"(,"kind":"{}")", event.kind);
  if (!event.returns.empty()) out += fmt::format(R"(,"returns":"{}")", event.returns);
  out += fmt::format(R"(,"stability":"{}")", StabilityName(event.stability));
  if (event.since != 0) out += fmt::format(R"(,"since":{})", event.since);
  if (event.deprecated) out += R"(,"deprecated":true)";
  if (!event.deprecated_by.empty())
    out += fmt::format(R"(,"deprecated_by":{})", JsonString(event.deprecated_by));
  out += fmt::format(R"(,"loglevel":{},"states":{},"fixed_words":{},"max_words":{},"fields":[)",
                     event.loglevel, StatesJson(event), event.fixed_words, event.max_words);
  for (size_t i = 0; i < event.fields.size(); i++) {
    out += (i > 0 ? "," : "") + FieldJson(model, event.fields[i]);
  }
  return out + fmt::format(R"(],"enums":{{{}}}}})", EnumsJson(model, event));
}

}  // namespace genevent
