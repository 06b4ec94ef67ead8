// SPDX-License-Identifier: MIT
// Enum and flags tables.
#include "front_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace genevent {
namespace {

constexpr size_t kMaxEnumerators = 4096;
constexpr size_t kMaxEnumeratorName = 40;

std::string Upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

// Enumerators keep the spelling that their programmers use: any case.
bool CheckEnumeratorName(const YamlNode &key, Report *report) {
  const auto good = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  if (!key.quoted && IsReservedWord(key.text)) {
    report->Error(
        key.at, fmt::format("the name of a value is {}; wanted a name", Describe(key)),
        fmt::format("some YAML readers take it for a boolean or for nothing: write \"{}\"", key.text));
    return false;
  }
  if (key.text.empty() || !std::isalpha(static_cast<unsigned char>(key.text[0])) ||
      !std::all_of(key.text.begin(), key.text.end(), good)) {
    report->Error(key.at,
                  fmt::format("the name of a value is '{}'; wanted a letter, then letters, digits and '_'",
                              Printable(key.text)));
    return false;
  }
  if (key.text.size() > kMaxEnumeratorName) {
    report->Error(key.at, fmt::format("the name of a value has {} characters; wanted at most {}",
                                      key.text.size(), kMaxEnumeratorName));
    return false;
  }
  return true;
}

bool Fits(const Integer &value, const EnumType &type) {
  const unsigned bits = type.size * 8;
  if (!type.is_signed) return !value.negative && (bits == 64 || value.magnitude >> bits == 0);
  const uint64_t limit = uint64_t{1} << (bits - 1);
  return value.negative ? value.magnitude <= limit : value.magnitude < limit;
}

std::string BaseName(const EnumType &type) {
  return fmt::format("{}{}", type.is_signed ? 's' : 'u', type.size * 8);
}

std::string BaseHint(const Integer &value, const EnumType &type) {
  if (value.negative && type.is_flags) return "a flag is a mask of bits: 0x1, 0x2, 0x4, ...";
  if (value.negative) return "give the enum a signed base: {type: s32, values: {...}}";
  return fmt::format("give it a wider base: {{type: {}64, values: {{...}}}}", type.is_signed ? 's' : 'u');
}

void ReadBase(Scope *scope, EnumType *type) {
  static const std::vector<std::string> kBases = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
  static constexpr std::array<uint32_t, 4> kSizes = {1, 2, 4, 8};
  const std::vector<std::string> bases(kBases.begin(), type->is_flags ? kBases.begin() + 4 : kBases.end());
  const std::optional<size_t> base = scope->Choice("type", bases);
  if (!base) return;
  type->size = kSizes.at(*base % 4);
  type->is_signed = *base >= 4;
}

void ReadEnumerator(const YamlNode &key, const YamlNode &value, EnumType *type, Report *report) {
  Enumerator out{.name = key.text, .doc = {}, .at = key.at, .value = 0};
  const bool good_name = CheckEnumeratorName(key, report);
  const YamlNode *number = &value;
  if (value.kind == YamlNode::Kind::kMap) {
    Scope scope(value, fmt::format("value '{}'", Printable(key.text)), report);
    number = scope.Require("value");
    out.doc = scope.Text("doc").value_or("");
    scope.Finish();
  }
  if (number == nullptr) return;
  const std::optional<Integer> integer =
      ReadInteger(*number, fmt::format("'{}'", Printable(key.text)), report);
  if (!integer || !good_name) return;
  if (!Fits(*integer, *type)) {
    report->Error(
        number->at,
        fmt::format("'{}' is {}, which does not fit into {}", key.text, number->text, BaseName(*type)),
        BaseHint(*integer, *type));
    return;
  }
  if (type->is_flags && integer->magnitude == 0) {
    report->Error(number->at, fmt::format("flag '{}' is 0; wanted a mask with at least one bit", key.text),
                  "flags are masks: 0x1, 0x2, 0x4, ...");
    return;
  }
  out.value = integer->negative ? ~integer->magnitude + 1 : integer->magnitude;
  const auto same = std::find_if(type->values.begin(), type->values.end(),
                                 [&](const Enumerator &other) { return other.value == out.value; });
  if (same != type->values.end()) {
    report->Error(number->at, fmt::format("'{}' and '{}' are both {}", same->name, key.text, number->text));
    return;
  }
  type->values.push_back(std::move(out));
}

void ReadValues(const YamlNode &values, EnumType *type, Report *report) {
  const char *word = type->is_flags ? "flags" : "enum";
  if (values.kind != YamlNode::Kind::kMap) {
    report->Error(values.at, fmt::format("the values of {} '{}' are {}; wanted a map of names and integers",
                                         word, type->name, Describe(values)));
    return;
  }
  if (values.keys.empty()) report->Error(values.at, fmt::format("{} '{}' has no values", word, type->name));
  if (values.keys.size() > kMaxEnumerators) {
    report->Error(values.at, fmt::format("{} '{}' has {} values; wanted at most {}", word, type->name,
                                         values.keys.size(), kMaxEnumerators));
    return;
  }
  std::set<std::string> constants;
  for (size_t i = 0; i < values.keys.size(); i++) {
    const YamlNode &key = values.keys[i];
    if (!constants.insert(Upper(key.text)).second) {
      report->Error(key.at,
                    fmt::format("'{}' differs from another value in case only; the C constants would be the "
                                "same",
                                Printable(key.text)));
      continue;
    }
    ReadEnumerator(key, values.items[i], type, report);
  }
}

// {down: 0, up: 1}, or {type: u8, doc: ..., values: {down: 0, up: 1}}.
void ReadEnum(const YamlNode &node, EnumType *type, Report *report) {
  const YamlNode *values = node.kind == YamlNode::Kind::kMap ? node.Find("values") : nullptr;
  if (values == nullptr || values->kind == YamlNode::Kind::kScalar) {
    ReadValues(node, type, report);
    return;
  }
  Scope scope(node, fmt::format("{} '{}'", type->is_flags ? "flags" : "enum", type->name), report);
  ReadBase(&scope, type);
  type->doc = scope.Text("doc").value_or("");
  scope.Take("values");
  scope.Finish();
  ReadValues(*values, type, report);
}

// GKHI_<PROVIDER>_<ENUM>_<VALUE> must be different for all enums of the file.
void CheckConstants(const YamlNode &key, const EnumType &type, std::set<std::string> *taken, Report *report) {
  for (const Enumerator &value : type.values) {
    const std::string constant = Upper(type.name + "_" + value.name);
    if (taken->insert(constant).second) continue;
    report->Error(key.at,
                  fmt::format("the C constant ..._{} of '{}' is taken by another enum", constant, value.name),
                  "rename one of the two enums");
  }
}

}  // namespace

void ReadEnums(const YamlNode &node, bool is_flags, Model *model, std::set<std::string> *constants,
               Report *report) {
  const char *word = is_flags ? "flags" : "enums";
  if (node.kind != YamlNode::Kind::kMap) {
    report->Error(node.at, fmt::format("'{}:' is {}; wanted a map of names", word, Describe(node)));
    return;
  }
  for (size_t i = 0; i < node.keys.size(); i++) {
    const YamlNode &key = node.keys[i];
    if (!CheckName(key, is_flags ? "the name of flags" : "the name of an enum", report)) continue;
    EnumType type{.name = key.text, .doc = {}, .is_flags = is_flags};
    const auto same = [&](const EnumType &other) { return other.name == type.name; };
    if (std::any_of(model->enums.begin(), model->enums.end(), same)) {
      report->Error(key.at,
                    fmt::format("'{}' is an enum already; enums and flags share their names", type.name));
      continue;
    }
    ReadEnum(node.items[i], &type, report);
    CheckConstants(key, type, constants, report);
    model->enums.push_back(std::move(type));
  }
}

}  // namespace genevent
