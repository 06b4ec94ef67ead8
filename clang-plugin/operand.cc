// SPDX-License-Identifier: MIT
// What the operators of a site's expression do to an operand.
#include "expression.hpp"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "report.hpp"

namespace gkhi {

using namespace llvm;

ValueClass ClassOf(const Operand &operand) {
  if (operand.letter) return {operand.letter, operand.size, false};
  ValueClass value{'i', 8, false};
  if (operand.type) {
    value = Classify(operand.type);
    if (operand.bits) value.size = operand.bits->size;
    return value;
  }
  Type *type = operand.base->getType();
  if (type->isPointerTy())
    value.letter = 'p';
  else if (type->isFloatingPointTy())
    value = {'f', static_cast<unsigned>(type->getPrimitiveSizeInBits() / 8), false};
  else if (type->isIntegerTy(1))
    value = {'u', 1, true};
  else
    value.size = static_cast<unsigned>(type->getPrimitiveSizeInBits() / 8);
  return value;
}

std::string TypeOf(const Operand &operand) {
  if (operand.type) return TypeName(operand.type);
  ValueClass value = ClassOf(operand);
  switch (value.letter) {
    case 'i':
      return "an integer of " + utostr(8 * value.size) + " bits";
    case 'p':
      return "a pointer";
    case 'c':
      return "str";
    case 'b':
      return "bytes";
    default:
      return std::string(1, value.letter) + utostr(8 * value.size);
  }
}

// The sanitizers shall not watch what the tracer reads.
LoadInst *Evaluator::LoadSafely(Type *type, Value *address) {
  address = builder_.CreateBitCast(address, PointerType::get(type, 0));
  LoadInst *load = builder_.CreateLoad(type, address, "gkhi.value");
  load->setMetadata("nosanitize", MDNode::get(builder_.getContext(), {}));
  return load;
}

Operand Evaluator::FromVariable(const Variable &variable) {
  Operand operand;
  operand.base = variable.address;
  operand.type = variable.debug->getType();
  operand.storage = Storage::kMemory;
  if (place_.kind == GKHI_SITE_RETURN) FunctionScope::KeepAlive(variable);
  if (!FunctionScope::MayHaveValue(variable, place_.before)) unassigned_ = &variable;
  if (variable.indirect) operand.base = LoadSafely(PointerType::get(builder_.getInt8Ty(), 0), operand.base);
  return operand;
}

// A C++ reference is a pointer that nobody writes a '*' for.
Operand Evaluator::FollowReference(Operand operand) {
  if (!IsReference(operand.type)) return operand;
  const DIType *type = Pointee(operand.type);
  ToValue(operand);
  operand.type = type;
  operand.storage = Storage::kProbe;
  operand.offset = 0;
  return operand;
}

Value *Evaluator::Address(const Operand &operand) {
  if (!operand.offset) return operand.base;
  Value *bytes = builder_.CreateBitCast(operand.base, PointerType::get(builder_.getInt8Ty(), 0));
  return builder_.CreateGEP(builder_.getInt8Ty(), bytes, builder_.getInt64(operand.offset));
}

static Type *LoadType(IRBuilder<> &builder, const ValueClass &value) {
  if (value.letter == 'p' || value.letter == 'c') return PointerType::get(builder.getInt8Ty(), 0);
  if (value.letter == 'f') return value.size == 4 ? builder.getFloatTy() : builder.getDoubleTy();
  return builder.getIntNTy(8 * value.size);
}

// Loads a scalar from memory that is always there.
void Evaluator::Load(Operand &operand) {
  if (operand.bits) return LoadBits(operand);
  Type *type = nullptr;
  auto *slot = dyn_cast<AllocaInst>(operand.base->stripPointerCasts());
  if (!operand.type)
    type = cast<GlobalVariable>(operand.base)->getValueType();
  else
    type = LoadType(builder_, Classify(operand.type));
  const DataLayout &layout = scope_.function().getParent()->getDataLayout();
  // The variable's own type where it is the same size: mem2reg then sees one variable, not two views of it.
  if (slot && !operand.offset && slot->getAllocatedType()->isSingleValueType() &&
      layout.getTypeSizeInBits(slot->getAllocatedType()) == layout.getTypeSizeInBits(type))
    type = slot->getAllocatedType();
  operand.base = LoadSafely(type, Address(operand));
}

void Evaluator::LoadBits(Operand &operand) {
  BitField bits = *operand.bits;
  operand.bits.reset();
  operand.offset += static_cast<int64_t>(bits.byte);
  unsigned total = 8 * bits.size;
  Type *type = builder_.getIntNTy(total);
  Value *value = LoadSafely(type, Address(operand));
  value = builder_.CreateShl(value, total - bits.width - bits.shift);
  bool is_signed = Classify(operand.type).letter == 's';
  value = is_signed ? builder_.CreateAShr(value, total - bits.width)
                    : builder_.CreateLShr(value, total - bits.width);
  operand.base = value;
  operand.letter = is_signed ? 's' : 'u';
  operand.size = bits.size;
  operand.type = nullptr;
}

void Evaluator::ToValue(Operand &operand) {
  if (operand.storage == Storage::kValue) return;
  bool whole = Aggregate(operand.type) != nullptr;
  if (operand.storage == Storage::kMemory) {
    if (whole)
      operand.base = Address(operand);  // an array decays, a struct is its address
    else
      Load(operand);
  } else if (whole) {
    operand.chain += "+" + itostr(operand.offset);
  } else if (operand.bits) {
    operand.chain += ">" + itostr(operand.offset + static_cast<int64_t>(operand.bits->byte)) + "#" +
                     utostr(operand.bits->shift) + ":" + utostr(operand.bits->width);
  } else {
    operand.chain += ">" + itostr(operand.offset);
  }
  operand.storage = Storage::kValue;
  operand.offset = 0;
}

Evaluator::Result Evaluator::Dereference(Operand operand) {
  if (!IsPointer(operand.type) && !IsArray(operand.type))
    return Fail("'*' on '" + TypeName(operand.type) + "', wanted a pointer");
  ToValue(operand);
  if (!Pointee(operand.type)) return Fail("'*' on 'void *': cast it first, as in *(struct foo *)p");
  operand.type = Element(operand.type);
  operand.storage = Storage::kProbe;
  return operand;
}

Evaluator::Result Evaluator::AddressOf(Operand operand) {
  if (operand.bits) return Fail("a bit-field has no address");
  if (operand.storage == Storage::kValue) return Fail("'&' on a value that has no address");
  if (operand.storage == Storage::kMemory)
    operand.base = Address(operand);
  else
    operand.chain += "+" + itostr(operand.offset);
  operand.storage = Storage::kValue;
  operand.offset = 0;
  // A pointer to what was there: enough for a cast and for a byte array.
  operand.letter = 'p';
  operand.size = 8;
  operand.type = nullptr;
  return operand;
}

// The nearest member; without a near one, the first few.
static std::string SuggestMember(const DICompositeType *type, StringRef name) {
  constexpr unsigned kShown = 6;
  Nearest nearest(name);
  std::string list;
  unsigned count = 0;
  ForEachMember(type, [&](StringRef member) {
    nearest.Offer(member);
    if (count++ < kShown) list += (list.empty() ? "" : ", ") + member.str();
  });
  if (!nearest.name().empty() || list.empty()) return nearest.Hint();
  return "; it has " + list + (count > kShown ? ", ..." : "");
}

Evaluator::Result Evaluator::MemberOf(Operand operand, bool arrow) {
  size_t operator_token = token_;
  if (arrow) {
    if (!IsPointer(operand.type)) {
      bool dot = Aggregate(operand.type) && !IsArray(operand.type);
      return Fail("'->' on '" + TypeName(operand.type) + "', which is no pointer" + (dot ? "; use '.'" : ""));
    }
    ToValue(operand);
    operand.type = Pointee(operand.type);
    operand.storage = Storage::kProbe;
    operand.offset = 0;
    operand.is_cast = false;
  }
  StringRef name = Identifier();
  if (name.empty()) return Fail("wanted the name of a member");
  auto *type = Aggregate(operand.type);
  if (!type || IsArray(type)) {
    token_ = operator_token;
    return Fail("'" + TypeName(operand.type) + "' has no members" +
                (!arrow && IsPointer(operand.type) ? "; it is a pointer, use '->'" : ""));
  }
  if (type->isForwardDecl())
    return Fail("'" + TypeName(type) +
                "' is incomplete in this file's debug information: include its "
                "definition, or compile with -fstandalone-debug");
  Member member = FindMember(type, name);
  if (!member.type)
    return Fail("no member '" + name.str() + "' in '" + TypeName(type) + "'" + SuggestMember(type, name));
  if (member.type->isBitField()) {
    operand.bits = ContainerOf(member.offset_bits, member.type->getSizeInBits());
    if (operand.bits->shift + operand.bits->width > 8 * operand.bits->size)
      return Fail("the bit-field '" + name.str() + "' spans more than 8 bytes");
  } else {
    operand.offset += static_cast<int64_t>(member.offset_bits / 8);
  }
  operand.type = member.type->getBaseType();
  operand.dimension = 0;
  return operand;
}

Evaluator::Result Evaluator::Index(Operand operand) {
  size_t open = token_;
  StringRef digits = Identifier();
  uint64_t index = 0;
  if (digits.getAsInteger(0, index))
    return Fail("wanted a number in '[]', found '" + digits.str() +
                "': an index is fixed when the program is compiled");
  if (!Take("]")) {
    token_ = at_;
    return Fail("wanted ']'");
  }
  token_ = open;
  const DIType *type = Strip(operand.type);
  if (!IsPointer(type) && !IsArray(type))
    return Fail("'[]' on '" + TypeName(operand.type) + "', which is no array");
  uint64_t stride = 1;
  const DIType *element = Element(type);
  bool last = true;
  if (IsPointer(type)) {
    ToValue(operand);
    operand.storage = Storage::kProbe;
    operand.offset = 0;
  } else {
    auto bounds = Bounds(type);
    unsigned dimension = operand.dimension;
    if (dimension < bounds.size() && bounds[dimension] && index >= bounds[dimension])
      return Fail("index " + utostr(index) + " is outside of '" + TypeName(type) + "'");
    for (size_t i = dimension + 1; i < bounds.size(); i++) stride *= bounds[i];
    last = dimension + 1 >= bounds.size();
  }
  uint64_t bits = element ? Strip(element) ? Strip(element)->getSizeInBits() : 0 : 0;
  if (IsPointer(element)) bits = 64;
  if (!bits) return Fail("'[]' on '" + TypeName(operand.type) + "': the size of its elements is not known");
  if (index > INT32_MAX || index * stride * bits / 8 > INT32_MAX)
    return Fail("index " + utostr(index) + " is too far away");
  operand.offset += static_cast<int64_t>(index * stride * bits / 8);
  operand.dimension = last ? 0 : operand.dimension + 1;
  if (last) operand.type = element;
  return operand;
}

}  // namespace gkhi
