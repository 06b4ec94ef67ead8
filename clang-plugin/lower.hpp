// SPDX-License-Identifier: MIT
// Emits a marker pad with its map record, and the hook it belongs to: the same bytes as GKHI_PAD and
// GKHI_ASM_HOOK in gkhi/site_user.h.
#ifndef GKHI_CLANG_PLUGIN_LOWER_HPP
#define GKHI_CLANG_PLUGIN_LOWER_HPP

#include <string>
#include <vector>

#include "config.hpp"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace gkhi {

// One argument of a record. The value is the operand; location is what follows it: ">disp", "+disp",
// "#shift:width".
struct RecordValue {
  std::string name;
  char letter;
  unsigned size;
  llvm::Value *value;
  std::string location;
};

struct Pad {
  const Event *event;
  std::string function;
  std::string file;
  unsigned line;
  unsigned kind;  // enum gkhi_site_kind
  std::vector<RecordValue> arguments;
};

// Inserts the pad where the builder stands. The call neither touches the program's memory nor its flags,
// and costs the inliner nothing.
llvm::CallInst *EmitPad(llvm::IRBuilder<> &builder, const Pad &pad);

// What a probe at an asm call of ours reads of the program's memory.
enum class Reads {
  kNothing,
  kArguments,  // what its operands point to
  kAnything,   // what lies behind further pointers
};
void SetEffects(llvm::CallBase &call, Reads reads);

// The name that a record carries for a function.
std::string SourceName(const llvm::Function &function);

// A marker has effects: the function is no longer const, pure, or free of calls to it.
void DropPurity(llvm::Function &function);

}  // namespace gkhi

#endif
