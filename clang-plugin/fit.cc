// SPDX-License-Identifier: MIT
// Whether a value fits a declared field, and what the map record says of it.
#include "llvm/ADT/StringExtras.h"
#include "sites.hpp"

namespace gkhi {

using namespace llvm;

namespace {

constexpr unsigned kArrayForm = 1;  // GKHI_FORM_ARRAY

std::string Mismatch(const Field &field, const Operand &operand, const std::string &hint) {
  return "field '" + field.name + "' is declared " + field.declared + ", the expression is '" +
         TypeOf(operand) + "'" + hint;
}

unsigned NeededBytes(const Operand &operand, const ValueClass &value) {
  return operand.bits ? (operand.bits->width + 7) / 8 : value.size;
}

std::string FitInteger(const Field &field, bool is_signed, const Operand &operand, ValueClass value,
                       RecordValue &argument) {
  const char letter = is_signed ? 's' : 'u';
  if (value.letter == 'i') value.letter = letter;
  argument.letter = value.letter;
  argument.size = value.size;
  if (value.letter != 'u' && value.letter != 's') {
    bool pointer = value.letter == 'p' || value.letter == 'c';
    return Mismatch(field, operand, pointer ? "; declare it ptr, or cast with (u64)" : "");
  }
  if (operand.is_cast && !operand.type && NeededBytes(operand, value) <= field.size) return "";
  if (isa<ConstantInt>(operand.base) && operand.chain.empty()) return "";
  std::string cast = std::string("; if that is meant, cast with (") + letter + utostr(8 * field.size) + ")";
  if (NeededBytes(operand, value) > field.size) return Mismatch(field, operand, cast);
  bool narrower = operand.bits ? operand.bits->width < 8 * field.size : value.size < field.size;
  if (value.letter == letter || (value.letter == 'u' && narrower)) return "";
  return Mismatch(field, operand, cast);
}

// A literal has no size of its own: it must fit, and its record is as wide as the field.
std::string FitLiteral(const Field &field, bool is_signed, const ConstantInt &literal,
                       RecordValue &argument) {
  argument.letter = is_signed ? 's' : 'u';
  argument.size = field.size;
  bool fits = is_signed ? isIntN(8 * field.size, literal.getSExtValue())
                        : isUIntN(8 * field.size, literal.getZExtValue());
  return fits ? "" : "the number does not fit field '" + field.name + "', declared " + field.declared;
}

std::string FitBool(const Field &field, const Operand &operand, const ValueClass &value,
                    RecordValue &argument) {
  argument.letter = 'u';
  argument.size = 1;
  bool one_byte = (value.letter == 'u' || value.letter == 'i') && NeededBytes(operand, value) == 1;
  if (value.is_bool || (operand.is_cast && one_byte)) return "";
  return Mismatch(field, operand, "; cast with (bool)");
}

std::string FitBytes(const Field &field, const Operand &operand, const ValueClass &value,
                     RecordValue &argument) {
  argument.letter = 'b';
  argument.size = field.size;
  const std::string hint = "; wanted an array or a pointer to elements of " + utostr(field.size) +
                           " bytes, or a cast with (bytes)";
  if (value.letter == 'b' && operand.is_cast) return "";
  if (!IsArray(operand.type) && !IsPointer(operand.type)) return Mismatch(field, operand, hint);
  const DIType *element = Strip(Element(operand.type));
  if (!element || element->getSizeInBits() != 8 * field.size) return Mismatch(field, operand, hint);
  if (field.form == kArrayForm && IsArray(operand.type)) {
    uint64_t count = 1;
    for (uint64_t bound : Bounds(operand.type)) count *= bound;
    if (count && count < field.max) return Mismatch(field, operand, ", which has fewer elements");
  }
  return "";
}

std::string FitString(const Field &field, const Operand &operand, const ValueClass &value,
                      RecordValue &argument) {
  argument.letter = 'c';
  argument.size = 1;
  if (value.letter == 'c') return "";
  return Mismatch(field, operand, value.letter == 'p' ? "; if it points to text, cast with (str)" : "");
}

std::string FitFloat(const Field &field, const Operand &operand, const ValueClass &value,
                     RecordValue &argument) {
  argument.letter = 'f';
  argument.size = value.size;
  if (value.letter == 'f' && value.size == field.size) return "";
  bool can_widen = value.letter == 'f' && operand.chain.empty();
  return Mismatch(field, operand, can_widen ? "; cast with (f64)" : "");
}

}  // namespace

std::string FitField(const Field &field, const Operand &operand, RecordValue &argument) {
  argument.name = field.name;
  argument.value = operand.base;
  argument.location = operand.chain;
  ValueClass value = ClassOf(operand);
  auto *literal = dyn_cast<ConstantInt>(operand.base);
  bool is_literal = literal && operand.is_cast && operand.size == 8 && operand.chain.empty();
  if (field.form != 0 || field.type == 'b') {
    return FitBytes(field, operand, value, argument);
  }
  switch (field.type) {
    case 'u':
    case 's':
      return is_literal ? FitLiteral(field, field.type == 's', *literal, argument)
                        : FitInteger(field, field.type == 's', operand, value, argument);
    case 'o':
      return FitBool(field, operand, value, argument);
    case 'p':
      argument.letter = 'p';
      argument.size = 8;
      if (value.letter == 'p' || value.letter == 'c' || IsArray(operand.type) || Aggregate(operand.type))
        return "";
      return Mismatch(field, operand, value.size == 8 ? "; cast with (ptr)" : "");
    case 'f':
      return FitFloat(field, operand, value, argument);
    case 'e':
    case 'g': {
      // An enumeration's sign is the compiler's choice: only its size counts.
      argument.letter = value.letter == 's' ? 's' : 'u';
      argument.size = value.size;
      if (is_literal) return FitLiteral(field, false, *literal, argument);
      bool integer = value.letter == 'u' || value.letter == 's' || value.letter == 'i';
      if (integer && NeededBytes(operand, value) <= field.size) return "";
      return Mismatch(field, operand,
                      integer ? "; if that is meant, cast with (u" + utostr(8 * field.size) + ")" : "");
    }
    case 'c':
      return FitString(field, operand, value, argument);
    default:
      return "field '" + field.name + "' has a type that this plugin does not know";
  }
}

}  // namespace gkhi
