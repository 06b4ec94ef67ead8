// SPDX-License-Identifier: MIT
// The schema of an event as one line of JSON.
#include <fmt/format.h>

#include "emit.hpp"
#include "json.hpp"

namespace genevent {
namespace {

std::string EnumJson(const EnumType &type) {
  std::string out;
  for (const Enumerator &value : type.values) {
    out +=
        fmt::format("{}[{},{}]", out.empty() ? "" : ",", JsonString(value.name), EnumValueText(type, value));
  }
  return fmt::format(R"(,"signed":{},"enum":[{}])", type.is_signed, out);
}

std::string FieldJson(const Model &model, const Field &field) {
  std::string out =
      fmt::format(R"({{"name":{},"declared":{},"type":"{}","size":{})", JsonString(field.name),
                  JsonString(TypeText(model, field)), static_cast<char>(field.kind), field.size);
  if (field.form != Form::kScalar) out += fmt::format(R"(,"form":{})", static_cast<int>(field.form));
  if (field.show != Show::kDec) out += fmt::format(R"(,"show":{})", static_cast<int>(field.show));
  if (!field.tail) out += fmt::format(R"(,"offset":{})", field.offset);
  if (field.counted()) out += fmt::format(R"(,"len_offset":{})", field.len_offset);
  if (field.max != 1) out += fmt::format(R"(,"max":{})", field.max);
  if (const EnumType *type = EnumOf(model, field)) out += EnumJson(*type);
  if (!field.doc.empty()) out += fmt::format(R"(,"doc":{})", JsonString(field.doc));
  return out + "}";
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
  out += fmt::format(R"(,"stability":{})", static_cast<int>(event.stability));
  if (event.since != 0) out += fmt::format(R"(,"since":{})", event.since);
  if (event.deprecated) out += R"(,"deprecated":true)";
  if (!event.deprecated_by.empty())
    out += fmt::format(R"(,"deprecated_by":{})", JsonString(event.deprecated_by));
  out += fmt::format(R"(,"loglevel":{},"states":{},"fixed_words":{},"max_words":{},"fields":[)",
                     event.loglevel, StatesJson(event), event.fixed_words, event.max_words);
  for (size_t i = 0; i < event.fields.size(); i++) {
    out += (i > 0 ? "," : "") + FieldJson(model, event.fields[i]);
  }
  return out + "]}";
}

}  // namespace genevent
