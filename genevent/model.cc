// SPDX-License-Identifier: MIT
// Names of what a model is made of.
#include "model.hpp"

#include <fmt/format.h>

namespace genevent {

std::string ElementText(const Model &model, const Field &field) {
  switch (field.kind) {
    case Kind::kUint:
      return fmt::format("u{}", field.size * 8);
    case Kind::kInt:
      return fmt::format("s{}", field.size * 8);
    case Kind::kBool:
      return "bool";
    case Kind::kPtr:
      return "ptr";
    case Kind::kFloat:
      return "f64";
    case Kind::kString:
      return "string";
    case Kind::kBinary:
      return "binary";
    case Kind::kEnum:
      return "enum " + EnumOf(model, field)->name;
    case Kind::kFlags:
      return "flags " + EnumOf(model, field)->name;
  }
  return {};
}

std::string TypeText(const Model &model, const Field &field) {
  std::string text = ElementText(model, field);
  if (field.form == Form::kArray) text += fmt::format("[{}]", field.max);
  if (field.form == Form::kSequence && field.kind != Kind::kBinary) text += "[]";
  return text;
}

const char *ShowName(Show show) {
  switch (show) {
    case Show::kDec:
      return "dec";
    case Show::kHex:
      return "hex";
    case Show::kIpv4:
      return "ipv4";
    case Show::kIpv6:
      return "ipv6";
    case Show::kMac:
      return "mac";
    case Show::kUuid:
      return "uuid";
    case Show::kChar:
      return "char";
    case Show::kOct:
      return "oct";
  }
  return "dec";
}

const char *FormName(Form form) {
  switch (form) {
    case Form::kScalar:
      return "scalar";
    case Form::kArray:
      return "array";
    case Form::kSequence:
      return "sequence";
  }
  return "scalar";
}

const char *StabilityName(Stability stability) {
  switch (stability) {
    case Stability::kPrivate:
      return "private";
    case Stability::kEvolving:
      return "evolving";
    case Stability::kStable:
      return "stable";
  }
  return "private";
}

const char *StateName(State state) {
  switch (state) {
    case State::kDisabled:
      return "disabled";
    case State::kStatic:
      return "static";
    case State::kMarker:
      return "marker";
  }
  return "disabled";
}

}  // namespace genevent
