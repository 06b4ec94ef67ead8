// SPDX-License-Identifier: MIT
// One entry of `fields:`: type text, bound, format.
#include <fmt/format.h>

#include <algorithm>

#include "front_types.hpp"

namespace genevent {
namespace {

constexpr uint64_t kMaxElements = 65536;
constexpr uint32_t kDefaultMax = 256;

// A type text in pieces: element, and what stands in brackets behind it.
struct TypeWords {
  std::string element;
  bool brackets = false;
  std::string count;
};

std::string Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

bool Split(const std::string &text, TypeWords *out) {
  const size_t open = text.find('[');
  out->element = Trim(text.substr(0, open));
  if (open == std::string::npos) return text.find(']') == std::string::npos;
  out->brackets = true;
  const size_t close = text.find(']', open);
  if (close == std::string::npos || !Trim(text.substr(close + 1)).empty()) return false;
  out->count = Trim(text.substr(open + 1, close - open - 1));
  return true;
}

struct Builtin {
  const char *name;
  Kind kind;
  uint32_t size;
};

constexpr Builtin kBuiltins[] = {
    {"u8", Kind::kUint, 1},       {"u16", Kind::kUint, 2}, {"u32", Kind::kUint, 4},
    {"u64", Kind::kUint, 8},      {"s8", Kind::kInt, 1},   {"s16", Kind::kInt, 2},
    {"s32", Kind::kInt, 4},       {"s64", Kind::kInt, 8},  {"bool", Kind::kBool, 1},
    {"f64", Kind::kFloat, 8},     {"ptr", Kind::kPtr, 8},  {"string", Kind::kString, 1},
    {"binary", Kind::kBinary, 1},
};

// How C, C++, the kernel, Rust and people call what YAML calls otherwise.
struct Synonym {
  const char *name;
  const char *type;
};

constexpr Synonym kSynonyms[] = {
    {"int", "s32"},      {"unsigned", "u32"}, {"uint", "u32"},    {"char", "s8"},       {"short", "s16"},
    {"long", "s64"},     {"size_t", "u64"},   {"ssize_t", "s64"}, {"uint8_t", "u8"},    {"uint16_t", "u16"},
    {"uint32_t", "u32"}, {"uint64_t", "u64"}, {"int8_t", "s8"},   {"int16_t", "s16"},   {"int32_t", "s32"},
    {"int64_t", "s64"},  {"i8", "s8"},        {"i16", "s16"},     {"i32", "s32"},       {"i64", "s64"},
    {"double", "f64"},   {"float", "f64"},    {"str", "string"},  {"char *", "string"}, {"char*", "string"},
    {"bytes", "binary"}, {"blob", "binary"},  {"void *", "ptr"},  {"void*", "ptr"},     {"pointer", "ptr"},
    {"boolean", "bool"},
};

std::vector<std::string> TypeNames(const Model &model) {
  std::vector<std::string> names;
  for (const Builtin &builtin : kBuiltins) names.emplace_back(builtin.name);
  for (const EnumType &type : model.enums) names.push_back((type.is_flags ? "flags " : "enum ") + type.name);
  return names;
}

std::string TypeHint(const std::string &element, const Model &model) {
  for (const Synonym &synonym : kSynonyms) {
    if (element == synonym.name) return fmt::format("write '{}'", synonym.type);
  }
  for (const EnumType &type : model.enums) {
    if (element == type.name)
      return fmt::format("write '{} {}'", type.is_flags ? "flags" : "enum", type.name);
  }
  return Suggest(element, TypeNames(model));
}

bool FindEnum(const YamlNode &node, const std::string &name, bool flags, const Model &model, Field *field,
              Report *report) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.enums.size(); i++) {
    const EnumType &type = model.enums[i];
    if (type.is_flags == flags) names.push_back(type.name);
    if (type.name != name) continue;
    if (type.is_flags != flags) {
      report->Error(node.at, fmt::format("'{}' is declared under '{}:'", name, flags ? "enums" : "flags"),
                    fmt::format("write '{} {}'", flags ? "enum" : "flags", name));
      return false;
    }
    field->kind = flags ? Kind::kFlags : Kind::kEnum;
    field->size = type.size;
    field->is_signed = type.is_signed;
    field->enum_index = static_cast<int>(i);
    return true;
  }
  report->Error(
      node.at, fmt::format("{} '{}' is not declared in this file", flags ? "flags" : "enum", Printable(name)),
      names.empty() ? fmt::format("declare it under '{}:'", flags ? "flags" : "enums")
                    : Suggest(name, names));
  return false;
}

bool ReadElement(const YamlNode &node, const std::string &element, const Model &model, Field *field,
                 Report *report) {
  for (const Builtin &builtin : kBuiltins) {
    if (element != builtin.name) continue;
    field->kind = builtin.kind;
    field->size = builtin.size;
    field->is_signed = builtin.kind == Kind::kInt;
    if (builtin.kind == Kind::kBinary) field->form = Form::kSequence;
    return true;
  }
  if (element.compare(0, 5, "enum ") == 0)
    return FindEnum(node, Trim(element.substr(5)), false, model, field, report);
  if (element.compare(0, 6, "flags ") == 0)
    return FindEnum(node, Trim(element.substr(6)), true, model, field, report);
  report->Error(node.at, fmt::format("unknown type '{}'", Printable(element)), TypeHint(element, model));
  return false;
}

bool ReadBrackets(const YamlNode &node, const TypeWords &words, Field *field, Report *report) {
  if (!words.brackets) return true;
  if (field->kind == Kind::kString || field->kind == Kind::kBinary) {
    report->Error(node.at,
                  fmt::format("'{}' has a length already; wanted it without brackets", words.element),
                  fmt::format("write {{type: {}, max: N}}", words.element));
    return false;
  }
  if (words.count.empty()) {
    field->form = Form::kSequence;
    return true;
  }
  Integer count;
  if (ParseInteger(words.count, &count) != IntegerError::kNone || count.negative || count.magnitude == 0 ||
      count.magnitude > kMaxElements) {
    report->Error(node.at,
                  fmt::format("array length '{}'; wanted 1 to {}", Printable(words.count), kMaxElements),
                  "a sequence of variable length is written without a number: u32[]");
    return false;
  }
  field->form = Form::kArray;
  field->max = static_cast<uint32_t>(count.magnitude);
  return true;
}

bool ReadType(Scope *scope, const Model &model, Field *field, Report *report) {
  const YamlNode *node = scope->Require("type", "for example 'type: u32'");
  if (node == nullptr) return false;
  const std::optional<std::string> text = ReadText(*node, "'type:'", report);
  if (!text) return false;
  TypeWords words;
  if (!Split(*text, &words)) {
    report->Error(node->at, fmt::format("'type:' is '{}'; wanted TYPE, TYPE[N] or TYPE[]", Printable(*text)));
    return false;
  }
  return ReadElement(*node, words.element, model, field, report) && ReadBrackets(*node, words, field, report);
}

bool ReadMax(Scope *scope, Field *field, Report *report) {
  const YamlNode *node = scope->Take("max");
  const bool bounded = field->counted() || field->kind == Kind::kString;
  if (!bounded) {
    if (node == nullptr) return true;
    report->Error(node->at,
                  fmt::format("'max:' on field '{}'; only string, binary and TYPE[] have one", field->name));
    return false;
  }
  field->max = kDefaultMax;
  if (node == nullptr) return true;
  const std::optional<uint64_t> max =
      scope->Unsigned("max", field->kind == Kind::kString ? 2 : 1, kMaxElements);
  if (max) field->max = static_cast<uint32_t>(*max);
  return max.has_value();
}

// "u8[6]" when `format` fits the field, else what it would have to be.
std::string FormatMismatch(Show show, const Field &field) {
  const bool bytes = field.kind == Kind::kUint && field.size == 1;
  const bool integers = field.kind == Kind::kUint || field.kind == Kind::kInt;
  const auto byte_array = [&](uint32_t n) { return bytes && field.form == Form::kArray && field.max == n; };
  switch (show) {
    case Show::kDec:
    case Show::kOct:
      return integers ? "" : "an integer, or an array of integers";
    case Show::kHex:
      return integers || field.kind == Kind::kBinary ? "" : "an integer, an array of integers, or binary";
    case Show::kIpv4:
      return byte_array(4) || (field.kind == Kind::kUint && field.size == 4 && field.form == Form::kScalar)
                 ? ""
                 : "u8[4], or u32 in network byte order";
    case Show::kIpv6:
    case Show::kUuid:
      return byte_array(16) ? "" : "u8[16]";
    case Show::kMac:
      return byte_array(6) ? "" : "u8[6]";
    case Show::kChar:
      return (integers && field.size == 1) || field.kind == Kind::kBinary
                 ? ""
                 : "u8, s8, an array of them, or binary";
  }
  return {};
}

void ReadFormat(Scope *scope, Field *field, Report *report) {
  static const std::vector<std::string> kFormats = {"dec", "hex",  "ipv4", "ipv6",
                                                    "mac", "uuid", "char", "oct"};
  if (field->kind == Kind::kPtr || field->kind == Kind::kBinary) field->show = Show::kHex;
  const YamlNode *node = scope->Take("format");
  const std::optional<size_t> format = scope->Choice("format", kFormats);
  if (!format) return;
  const auto show = static_cast<Show>(*format);
  const std::string wanted = FormatMismatch(show, *field);
  if (!wanted.empty()) {
    report->Error(node->at, fmt::format("format {} on field '{}'; wanted the field to be {}", ShowName(show),
                                        field->name, wanted));
    return;
  }
  field->show = show;
}

}  // namespace

bool ReadField(const YamlNode &node, const Model &model, Field *field, Report *report) {
  const YamlNode *name = node.Find("name");
  const bool named = name != nullptr && name->kind == YamlNode::Kind::kScalar;
  Scope scope(node, named ? fmt::format("field '{}'", Printable(name->text)) : "field", report);
  if (!scope.valid()) return false;
  const std::optional<std::string> good_name = scope.Name("name", true);
  field->name = good_name.value_or("");
  field->doc = scope.Text("doc").value_or("");
  const bool typed = ReadType(&scope, model, field, report);
  if (typed) {
    ReadMax(&scope, field, report);
    ReadFormat(&scope, field, report);
  } else {
    scope.Take("max");
    scope.Take("format");
  }
  scope.Finish();
  return typed && good_name.has_value();
}

}  // namespace genevent
