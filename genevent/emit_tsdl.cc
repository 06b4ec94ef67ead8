// SPDX-License-Identifier: MIT
// CTF 1.8 (TSDL) of an event's fields, in the order of the bytes: the fixed part, then the tail.
//
// Names of ours begin with "__": fields cannot, and babeltrace2 hides the first underscore. Every tail field
// begins on 8 bytes behind an empty aligned struct; the last one, __end, rounds the event up.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emit.hpp"
#include "json.hpp"

namespace genevent {
namespace {

int Base(const Field &field) {
  if (field.kind == Kind::kPtr || field.show == Show::kHex) return 16;
  return field.show == Show::kOct ? 8 : 10;
}

std::string IntegerTsdl(uint32_t bytes, bool is_signed, int base) {
  std::string text =
      fmt::format("integer {{ size = {}; align = {}; signed = {};", bytes * 8, bytes * 8, is_signed);
  if (base != 10) text += fmt::format(" base = {};", base);
  return text + " }";
}

std::string EnumTsdl(const EnumType &type) {
  std::string text =
      fmt::format("enum : {} {{ ", IntegerTsdl(type.size, type.is_signed, type.is_flags ? 16 : 10));
  for (size_t i = 0; i < type.values.size(); i++) {
    const Enumerator &value = type.values[i];
    text += fmt::format("{}\"{}\" = {}", i > 0 ? ", " : "", value.name, EnumValueText(type, value));
  }
  return text + " }";
}

std::string ElementTsdl(const Model &model, const Field &field) {
  if (const EnumType *type = EnumOf(model, field)) return EnumTsdl(*type);
  if (field.kind == Kind::kFloat) return "floating_point { exp_dig = 11; mant_dig = 53; align = 64; }";
  if (field.kind == Kind::kString) return "string { encoding = UTF8; }";
  return IntegerTsdl(field.size, field.is_signed, Base(field));
}

// Words of TSDL take an underscore, which readers strip.
std::string CtfName(const std::string &name) {
  static constexpr std::array<std::string_view, 25> kWords = {
      "align",  "callsite",       "char",      "clock",   "const",    "double",  "enum",   "env",    "event",
      "float",  "floating_point", "int",       "integer", "long",     "short",   "signed", "stream", "string",
      "struct", "trace",          "typealias", "typedef", "unsigned", "variant", "void"};
  const bool type_name =
      name.size() > 2 && name.compare(name.size() - 2, 2, "_t") == 0;  // metadata has typealiases
  const bool word = std::find(kWords.begin(), kWords.end(), name) != kWords.end();
  return word || type_name ? "_" + name : name;
}

}  // namespace

std::string CtfCountName(const Field &field) {
  return fmt::format("__{}_len", field.name);
}

std::string EmitEventTsdl(const Model &model, const Event &event) {
  std::string out = "struct { ";
  for (const Field &field : event.fields) {
    if (field.counted()) out += fmt::format("{} {}; ", IntegerTsdl(4, false, 10), CtfCountName(field));
    if (field.tail) continue;
    out += fmt::format("{} {}", ElementTsdl(model, field), CtfName(field.name));
    if (field.form == Form::kArray) out += fmt::format("[{}]", field.max);
    out += "; ";
  }
  int pad = 0;
  for (const Field &field : event.fields) {
    if (!field.tail) continue;
    out += fmt::format("struct {{ }} align(64) __pad_{}; {} {}", pad++, ElementTsdl(model, field),
                       CtfName(field.name));
    if (field.counted()) out += fmt::format("[{}]", CtfCountName(field));
    if (field.form == Form::kArray) out += fmt::format("[{}]", field.max);
    out += "; ";
  }
  return out + "struct { } align(64) __end; }";
}

}  // namespace genevent
