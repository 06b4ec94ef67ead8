// SPDX-License-Identifier: MIT
// The variables of a function as the source sees them: which name means what at a place.
#ifndef GKHI_CLANG_PLUGIN_SCOPE_HPP
#define GKHI_CLANG_PLUGIN_SCOPE_HPP

#include <string>
#include <vector>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace gkhi {

struct Variable {
  const llvm::DILocalVariable *debug;
  llvm::Value *address;
  bool indirect;  // the address holds the address of the variable
  const llvm::DILocation *declared;
};

struct GlobalName {
  llvm::GlobalVariable *global = nullptr;
  const llvm::DIType *type = nullptr;  // NULL: declared here, defined elsewhere
};

class FunctionScope {
 public:
  explicit FunctionScope(llvm::Function &function);

  // The innermost variable of that name visible at the location; NULL if there is none.
  const Variable *Find(llvm::StringRef name, const llvm::DILocation *at) const;
  // A file-scope, namespace or function-static variable; qualified names are understood.
  GlobalName FindGlobal(llvm::StringRef name, const llvm::DILocation *at) const;
  // Why a name is not visible: "; did you mean ...", "(... not in scope here)".
  std::string WhyNot(llvm::StringRef name, const llvm::DILocation *at) const;

  [[nodiscard]] const std::vector<Variable> &variables() const { return variables_; }
  [[nodiscard]] llvm::Function &function() const { return function_; }

  // Whether the location is in the block that declares the variable, behind its declaration.
  static bool IsVisible(const Variable &variable, const llvm::DILocation *at);
  // False if no store to the variable can reach the place: what is read there is garbage.
  static bool MayHaveValue(const Variable &variable, llvm::Instruction *place);
  // Keeps the variable's storage to the end of the function: a return site reads it behind its scope.
  static void KeepAlive(const Variable &variable);

 private:
  void Add(const llvm::DILocalVariable *debug, llvm::Value *address, bool indirect,
           const llvm::DILocation *declared);

  llvm::Function &function_;
  std::vector<Variable> variables_;
};

}  // namespace gkhi

#endif
