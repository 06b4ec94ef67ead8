// SPDX-License-Identifier: MIT
// A provider as declared, checked and laid out. Built once by the front end, const from then on; emitters see
// nothing else.
#ifndef GENEVENT_MODEL_HPP_
#define GENEVENT_MODEL_HPP_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "source.hpp"

namespace genevent {

// The letters of enum gkhi_type (gkhi/abi.h).
enum class Kind : char {
  kUint = 'u',
  kInt = 's',
  kBool = 'o',
  kPtr = 'p',
  kFloat = 'f',
  kEnum = 'e',
  kFlags = 'g',
  kString = 'c',
  kBinary = 'b',
};

// enum gkhi_form and enum gkhi_show, in their order.
enum class Form { kScalar, kArray, kSequence };
enum class Show { kDec, kHex, kIpv4, kIpv6, kMac, kUuid, kChar, kOct };

struct Enumerator {
  std::string name;
  std::string doc;
  Position at;
  uint64_t value = 0;  // bit pattern, sign-extended to 64 bits where the base is signed
};

struct EnumType {
  std::string name;
  std::string doc;
  bool is_flags = false;
  bool is_signed = false;
  uint32_t size = 4;  // bytes of the base type
  std::vector<Enumerator> values = {};
};

constexpr uint32_t kNoOffset = 0xffff;
constexpr int kNoEnum = -1;

struct Field {
  std::string name = {};
  std::string doc = {};
  Kind kind = Kind::kUint;
  Form form = Form::kScalar;
  Show show = Show::kDec;
  bool is_signed = false;  // of the bits of one element
  uint32_t size = 0;       // bytes of one element
  uint32_t max = 1;        // elements at most; strings: bytes with the NUL
  int enum_index = kNoEnum;
  Position at = {};  // of its name

  // The wire layout (layout.cc).
  bool tail = false;
  uint32_t offset = kNoOffset;      // in the fixed part; arrays of the fixed part too
  uint32_t len_offset = kNoOffset;  // of the u32 count

  [[nodiscard]] bool counted() const { return form == Form::kSequence; }
};

// Where the clang pass puts the pad of an event in untouched source.
struct SiteArgument {
  std::string field;  // "name", or "name.len" for a count
  std::string expression;
  Position at;  // of the text, in the YAML file
};

struct Site {
  std::string file;
  std::string function;
  std::string where;  // entry, return, before_call, after_call, line
  std::string callee;
  std::string text;
  bool optional = false;
  Position at, file_at, function_at, where_at, callee_at, text_at;
  std::vector<SiteArgument> arguments;
};

enum class Stability { kPrivate, kEvolving, kStable };
enum class State { kDisabled, kStatic, kMarker };

struct Event {
  std::string name;
  std::string doc;
  std::string message;
  std::string kind = "event";
  std::string returns;  // gates
  std::string deprecated_by;
  Stability stability = Stability::kEvolving;
  uint64_t since = 0;  // 0: not said
  bool deprecated = false;
  bool has_static = true;
  bool has_marker = true;
  State default_state = State::kDisabled;
  std::string default_channel = "main";
  uint32_t loglevel = 6;
  std::vector<Field> fields;
  std::vector<Site> sites;
  Position at;

  // The wire layout (layout.cc).
  uint64_t layout_hash = 0;
  uint32_t fixed_bytes = 0;  // without the padding to 8
  uint32_t fixed_words = 0;
  uint32_t tails = 0;
  uint32_t max_words = 0;

  [[nodiscard]] bool bare() const { return !has_static; }
};

struct Model {
  std::string provider;
  std::string doc;
  std::string license;      // SPDX expression for what is generated; "" = none
  std::string source_name;  // file name without directories, for provenance lines
  std::vector<EnumType> enums;
  std::vector<Event> events;
};

[[nodiscard]] inline const EnumType *EnumOf(const Model &model, const Field &field) {
  return field.enum_index == kNoEnum ? nullptr : &model.enums[static_cast<size_t>(field.enum_index)];
}

// "u32", "u8[4]", "u64[]", "enum link", "string": as written in YAML.
[[nodiscard]] std::string TypeText(const Model &model, const Field &field);
// One element of it: "u32", "enum link".
[[nodiscard]] std::string ElementText(const Model &model, const Field &field);

[[nodiscard]] const char *ShowName(Show show);
[[nodiscard]] const char *FormName(Form form);
[[nodiscard]] const char *StabilityName(Stability stability);
[[nodiscard]] const char *StateName(State state);

}  // namespace genevent

#endif  // GENEVENT_MODEL_HPP_
