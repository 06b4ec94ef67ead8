// SPDX-License-Identifier: MIT
// Questions to the debug information about C and C++ types.
#ifndef GKHI_CLANG_PLUGIN_DEBUG_TYPES_HPP
#define GKHI_CLANG_PLUGIN_DEBUG_TYPES_HPP

#include <cstdint>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace gkhi {

// Without typedefs, const, volatile, restrict, atomic and member wrappers. NULL is void.
const llvm::DIType *Strip(const llvm::DIType *type);

bool IsPointer(const llvm::DIType *type);    // after Strip; a C++ reference is none
bool IsReference(const llvm::DIType *type);  // after Strip
const llvm::DIType *Pointee(const llvm::DIType *type);

// A struct, union, class or array; NULL for everything else.
const llvm::DICompositeType *Aggregate(const llvm::DIType *type);
bool IsArray(const llvm::DIType *type);
// The innermost element of an array, or what a pointer points to.
const llvm::DIType *Element(const llvm::DIType *type);
// One bound per dimension of an array; 0 when unknown (flexible).
llvm::SmallVector<uint64_t, 2> Bounds(const llvm::DIType *type);

std::string TypeName(const llvm::DIType *type);

// The letter of a map record and the bytes of a value: 'u' 's' 'f' 'p', 'c' for a pointer to or an array
// of characters, 'b' for what has no value of its own.
struct ValueClass {
  char letter;
  unsigned size;
  bool is_bool;
};
ValueClass Classify(const llvm::DIType *type);

struct Member {
  const llvm::DIDerivedType *type = nullptr;  // NULL: not found
  uint64_t offset_bits = 0;
};
// Finds a member, also in bases and in anonymous structs and unions.
Member FindMember(const llvm::DICompositeType *type, llvm::StringRef name);
// Calls visit(name) for each member FindMember could find.
void ForEachMember(const llvm::DICompositeType *type, llvm::function_ref<void(llvm::StringRef)> visit);

// The smallest naturally aligned container of a bit-field.
struct BitField {
  uint64_t byte;
  unsigned shift;
  unsigned width;
  unsigned size;  // bytes of the container
};
BitField ContainerOf(uint64_t offset_bits, uint64_t width);

// "struct foo", "foo", "unsigned int", with any number of '*'. NULL when the unit knows no such type.
const llvm::DIType *FindType(llvm::Module &module, llvm::StringRef spelled);

// Outer::Inner::name for a scope chain.
std::string QualifiedName(const llvm::DIScope *scope, llvm::StringRef name);

}  // namespace gkhi

#endif
