// SPDX-License-Identifier: MIT
// Questions to the debug information about C and C++ types.
#include "debug_types.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"

namespace gkhi {

using namespace llvm;

const DIType *Strip(const DIType *type) {
  while (auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
      case dwarf::DW_TAG_member:
        type = derived->getBaseType();
        break;
      default:
        return type;
    }
  }
  return type;
}

static bool HasTag(const DIType *type, std::initializer_list<unsigned> tags) {
  type = Strip(type);
  if (!type) return false;
  for (unsigned tag : tags)
    if (type->getTag() == tag) return true;
  return false;
}

bool IsPointer(const DIType *type) {
  return HasTag(type, {dwarf::DW_TAG_pointer_type});
}

bool IsReference(const DIType *type) {
  return HasTag(type, {dwarf::DW_TAG_reference_type, dwarf::DW_TAG_rvalue_reference_type});
}

const DIType *Pointee(const DIType *type) {
  return cast<DIDerivedType>(Strip(type))->getBaseType();
}

const DICompositeType *Aggregate(const DIType *type) {
  auto *composite = dyn_cast_or_null<DICompositeType>(Strip(type));
  if (!composite || composite->getTag() == dwarf::DW_TAG_enumeration_type) return nullptr;
  return composite;
}

bool IsArray(const DIType *type) {
  return HasTag(type, {dwarf::DW_TAG_array_type});
}

SmallVector<uint64_t, 2> Bounds(const DIType *type) {
  SmallVector<uint64_t, 2> bounds;
  auto *array = cast<DICompositeType>(Strip(type));
  for (auto *element : array->getElements()) {
    auto *range = dyn_cast_or_null<DISubrange>(element);
    if (!range) continue;
    auto count = range->getCount();
    auto *number = count ? count.dyn_cast<ConstantInt *>() : nullptr;
    bounds.push_back(number && number->getSExtValue() > 0 ? number->getZExtValue() : 0);
  }
  return bounds;
}

const DIType *Element(const DIType *type) {
  type = Strip(type);
  return IsPointer(type) ? Pointee(type) : cast<DICompositeType>(type)->getBaseType();
}

static std::string CompositeName(const DICompositeType *type) {
  std::string name = type->getName().empty() ? "(unnamed)" : type->getName().str();
  switch (type->getTag()) {
    case dwarf::DW_TAG_structure_type:
      return "struct " + name;
    case dwarf::DW_TAG_class_type:
      return "class " + name;
    case dwarf::DW_TAG_union_type:
      return "union " + name;
    case dwarf::DW_TAG_enumeration_type:
      return "enum " + name;
    case dwarf::DW_TAG_array_type: {
      std::string text = TypeName(type->getBaseType());
      for (uint64_t bound : Bounds(type)) text += "[" + (bound ? utostr(bound) : std::string()) + "]";
      return text;
    }
    default:
      return name;
  }
}

std::string TypeName(const DIType *type) {
  if (!type) return "void";
  if (auto *derived = dyn_cast<DIDerivedType>(type)) {
    const DIType *base = derived->getBaseType();
    switch (derived->getTag()) {
      case dwarf::DW_TAG_pointer_type:
        return TypeName(base) + " *";
      case dwarf::DW_TAG_reference_type:
        return TypeName(base) + " &";
      case dwarf::DW_TAG_rvalue_reference_type:
        return TypeName(base) + " &&";
      case dwarf::DW_TAG_const_type:
        return "const " + TypeName(base);
      case dwarf::DW_TAG_volatile_type:
        return "volatile " + TypeName(base);
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
      case dwarf::DW_TAG_member:
        return TypeName(base);
      default:
        return derived->getName().str();
    }
  }
  if (auto *composite = dyn_cast<DICompositeType>(type)) return CompositeName(composite);
  if (isa<DISubroutineType>(type)) return "function";
  return type->getName().str();
}

static bool IsCharacter(const DIType *type) {
  auto *basic = dyn_cast_or_null<DIBasicType>(Strip(type));
  return basic && basic->getSizeInBits() == 8 &&
         (basic->getEncoding() == dwarf::DW_ATE_signed_char ||
          basic->getEncoding() == dwarf::DW_ATE_unsigned_char);
}

ValueClass Classify(const DIType *type) {
  type = Strip(type);
  unsigned size = type ? static_cast<unsigned>(type->getSizeInBits() / 8) : 0;
  if (IsPointer(type) || IsReference(type)) return {IsCharacter(Pointee(type)) ? 'c' : 'p', 8, false};
  if (auto *basic = dyn_cast_or_null<DIBasicType>(type)) {
    switch (basic->getEncoding()) {
      case dwarf::DW_ATE_signed:
      case dwarf::DW_ATE_signed_char:
        return {'s', size, false};
      case dwarf::DW_ATE_float:
        return {size == 4 || size == 8 ? 'f' : 'b', size, false};
      case dwarf::DW_ATE_boolean:
        return {'u', size, true};
      case dwarf::DW_ATE_complex_float:
        return {'b', size, false};
      default:
        return {basic->getTag() == dwarf::DW_TAG_unspecified_type ? 'p' : 'u', size ? size : 8, false};
    }
  }
  if (auto *composite = dyn_cast_or_null<DICompositeType>(type)) {
    if (composite->getTag() == dwarf::DW_TAG_enumeration_type) {
      if (composite->getBaseType()) return Classify(composite->getBaseType());
      return {'u', size, false};
    }
    if (IsArray(composite) && composite->getElements().size() == 1 && IsCharacter(composite->getBaseType()))
      return {'c', 8, false};
  }
  return {'b', size, false};
}

// Walks members, bases and anonymous aggregates; stops when visit says so.
static bool WalkMembers(const DICompositeType *type, uint64_t base_bits,
                        function_ref<bool(const DIDerivedType *, uint64_t)> visit) {
  for (auto *element : type->getElements()) {
    auto *member = dyn_cast_or_null<DIDerivedType>(element);
    if (!member || member->isStaticMember()) continue;
    bool is_base = member->getTag() == dwarf::DW_TAG_inheritance;
    if (!is_base && member->getTag() != dwarf::DW_TAG_member) continue;
    uint64_t offset = base_bits + member->getOffsetInBits();
    if (!is_base && !member->getName().empty()) {
      if (visit(member, offset)) return true;
      continue;
    }
    bool is_virtual = is_base && (member->getFlags() & DINode::FlagVirtual);
    auto *inner = Aggregate(member->getBaseType());
    if (!is_virtual && inner && WalkMembers(inner, offset, visit)) return true;
  }
  return false;
}

Member FindMember(const DICompositeType *type, StringRef name) {
  Member found;
  WalkMembers(type, 0, [&](const DIDerivedType *member, uint64_t offset) {
    if (member->getName() != name) return false;
    found = {member, offset};
    return true;
  });
  return found;
}

void ForEachMember(const DICompositeType *type, function_ref<void(StringRef)> visit) {
  WalkMembers(type, 0, [&](const DIDerivedType *member, uint64_t) {
    visit(member->getName());
    return false;
  });
}

BitField ContainerOf(uint64_t offset_bits, uint64_t width) {
  for (unsigned bits : {8u, 16u, 32u, 64u}) {
    uint64_t start = offset_bits / bits * bits;
    if (offset_bits + width <= start + bits)
      return {start / 8, static_cast<unsigned>(offset_bits - start), static_cast<unsigned>(width), bits / 8};
  }
  // Packed so that it straddles every aligned container: read from its first byte.
  return {offset_bits / 8, static_cast<unsigned>(offset_bits % 8), static_cast<unsigned>(width), 8};
}

std::string QualifiedName(const DIScope *scope, StringRef name) {
  std::string text = name.str();
  for (; scope && !isa<DIFile>(scope) && !isa<DICompileUnit>(scope); scope = scope->getScope())
    if (!scope->getName().empty()) text = scope->getName().str() + "::" + text;
  return text;
}

static const DIType *PointerTo(Module &module, const DIType *type) {
  DIBuilder builder(module, false);
  return builder.createPointerType(const_cast<DIType *>(type), 64);
}

const DIType *FindType(Module &module, StringRef spelled) {
  unsigned stars = 0;
  StringRef name = spelled.trim();
  while (name.consume_back("*")) {
    name = name.rtrim();
    stars++;
  }
  while (name.consume_front("const ")) name = name.ltrim();
  unsigned tag = 0;
  if (name.consume_front("struct "))
    tag = dwarf::DW_TAG_structure_type;
  else if (name.consume_front("class "))
    tag = dwarf::DW_TAG_class_type;
  else if (name.consume_front("union "))
    tag = dwarf::DW_TAG_union_type;
  else if (name.consume_front("enum "))
    tag = dwarf::DW_TAG_enumeration_type;
  name = name.trim();
  const DIType *found = nullptr;
  DebugInfoFinder finder;
  finder.processModule(module);
  for (const DIType *type : finder.types()) {
    if (type->getName() != name || (tag && type->getTag() != tag)) continue;
    if (isa<DIDerivedType>(type) && type->getTag() != dwarf::DW_TAG_typedef) continue;
    if (!found || found->isForwardDecl()) found = type;
  }
  if (!found && name != "void") return nullptr;
  for (; stars; stars--) found = PointerTo(module, found);
  return found;
}

}  // namespace gkhi
