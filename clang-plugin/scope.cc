// SPDX-License-Identifier: MIT
// The variables of a function as the source sees them.
#include "scope.hpp"

#include "debug_types.hpp"
#include "llvm/Analysis/CFG.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "report.hpp"

namespace gkhi {

using namespace llvm;

namespace {

const DIScope *WithoutFiles(const DIScope *scope) {
  while (auto *file = dyn_cast_or_null<DILexicalBlockFile>(scope)) scope = file->getScope();
  return scope;
}

const DIScope *Parent(const DIScope *scope) {
  auto *local = dyn_cast<DILocalScope>(scope);
  if (!local || isa<DISubprogram>(local)) return nullptr;
  return WithoutFiles(local->getScope());
}

// Blocks between the location and the scope; -1 when the scope does not enclose the location.
int Depth(const DIScope *scope, const DILocation *at) {
  int depth = 0;
  for (const DIScope *s = WithoutFiles(at->getScope()); s; s = Parent(s), depth++)
    if (s == WithoutFiles(scope)) return depth;
  return -1;
}

bool IsDeref(const DIExpression *expression) {
  return expression->getNumElements() == 1 && expression->getElement(0) == dwarf::DW_OP_deref;
}

}  // namespace

void FunctionScope::Add(const DILocalVariable *debug, Value *address, bool indirect,
                        const DILocation *declared) {
  if (!address || isa<UndefValue>(address)) return;
  for (const Variable &variable : variables_)
    if (variable.debug == debug) return;
  variables_.push_back({debug, address, indirect, declared});
}

// Clang 17 and later run assignment tracking before any plugin when they optimise: a declaration is then an
// assignment record. Clang 19 keeps both as records beside the instructions.
FunctionScope::FunctionScope(Function &function) : function_(function) {
  for (Instruction &instruction : instructions(function)) {
#if LLVM_VERSION_MAJOR >= 19
    for (DbgVariableRecord &record : filterDbgVars(instruction.getDbgRecordRange())) {
      if (record.isDbgDeclare())
        Add(record.getVariable(), record.getAddress(), IsDeref(record.getExpression()),
            record.getDebugLoc().get());
      else if (record.isDbgAssign() && record.getAddressExpression()->getNumElements() == 0 &&
               !record.getExpression()->getFragmentInfo())
        Add(record.getVariable(), record.getAddress(), false, record.getDebugLoc().get());
    }
#endif
#if LLVM_VERSION_MAJOR >= 16
    if (auto *assign = dyn_cast<DbgAssignIntrinsic>(&instruction)) {
      if (assign->getAddressExpression()->getNumElements() == 0 &&
          !assign->getExpression()->getFragmentInfo())
        Add(assign->getVariable(), assign->getAddress(), false, assign->getDebugLoc().get());
      continue;
    }
#endif
    if (auto *declare = dyn_cast<DbgDeclareInst>(&instruction))
      Add(declare->getVariable(), declare->getAddress(), IsDeref(declare->getExpression()),
          declare->getDebugLoc().get());
  }
}

bool FunctionScope::IsVisible(const Variable &variable, const DILocation *at) {
  if (Depth(variable.debug->getScope(), at) < 0) return false;
  if (variable.debug->isParameter()) return true;
  unsigned line = variable.debug->getLine();
  if (line != at->getLine()) return line < at->getLine();
  return variable.declared && variable.declared->getColumn() < at->getColumn();
}

const Variable *FunctionScope::Find(StringRef name, const DILocation *at) const {
  const Variable *best = nullptr;
  int best_depth = 0;
  for (const Variable &variable : variables_) {
    if (variable.debug->getName() != name || !IsVisible(variable, at)) continue;
    int depth = Depth(variable.debug->getScope(), at);
    if (best &&
        (depth > best_depth || (depth == best_depth && variable.debug->getLine() < best->debug->getLine())))
      continue;
    best = &variable;
    best_depth = depth;
  }
  return best;
}

GlobalName FunctionScope::FindGlobal(StringRef name, const DILocation *at) const {
  Module &module = *function_.getParent();
  GlobalName best;
  int best_depth = 0;
  name.consume_front("::");
  for (GlobalVariable &global : module.globals()) {
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    global.getDebugInfo(expressions);
    for (auto *expression : expressions) {
      const DIGlobalVariable *debug = expression->getVariable();
      if (debug->getName() != name && QualifiedName(debug->getScope(), debug->getName()) != name) continue;
      int depth = isa_and_nonnull<DILocalScope>(debug->getScope()) ? Depth(debug->getScope(), at) : 1 << 20;
      if (depth < 0 || (best.global && depth >= best_depth)) continue;
      best = {&global, debug->getType()};
      best_depth = depth;
    }
  }
  if (!best.global)
    if (GlobalVariable *global = module.getGlobalVariable(name, true)) best.global = global;
  return best;
}

std::string FunctionScope::WhyNot(StringRef name, const DILocation *at) const {
  Nearest nearest(name);
  for (const Variable &variable : variables_) {
    if (variable.debug->getName() == name)
      return "; the '" + name.str() + "' of line " + std::to_string(variable.debug->getLine()) +
             " is not in scope at line " + std::to_string(at->getLine());
    if (IsVisible(variable, at)) nearest.Offer(variable.debug->getName());
  }
  for (GlobalVariable &global : function_.getParent()->globals()) {
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    global.getDebugInfo(expressions);
    for (auto *expression : expressions) nearest.Offer(expression->getVariable()->getName());
  }
  return nearest.Hint();
}

namespace {

// All instructions that may write behind the address, or let it escape to code that may.
void CollectWriters(Value *address, SmallVectorImpl<Instruction *> &writers) {
  for (User *user : address->users()) {
    auto *instruction = dyn_cast<Instruction>(user);
    if (!instruction || isa<LoadInst>(instruction)) continue;
    if (isa<GetElementPtrInst>(instruction) || isa<CastInst>(instruction)) {
      CollectWriters(instruction, writers);
      if (isa<PtrToIntInst>(instruction)) writers.push_back(instruction);
      continue;
    }
    auto *intrinsic = dyn_cast<IntrinsicInst>(instruction);
    if (intrinsic && (isa<DbgInfoIntrinsic>(intrinsic) || intrinsic->isLifetimeStartOrEnd())) continue;
    writers.push_back(instruction);
  }
}

void CollectLifetimeEnds(Value *address, SmallVectorImpl<Instruction *> &ends) {
  for (User *user : address->users()) {
    if (isa<BitCastInst>(user)) CollectLifetimeEnds(user, ends);
    auto *intrinsic = dyn_cast<IntrinsicInst>(user);
    if (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::lifetime_end) ends.push_back(intrinsic);
  }
}

}  // namespace

bool FunctionScope::MayHaveValue(const Variable &variable, Instruction *place) {
  if (variable.debug->isParameter() || !isa<AllocaInst>(variable.address)) return true;
  SmallVector<Instruction *, 8> writers;
  CollectWriters(variable.address, writers);
  for (Instruction *writer : writers)
    if (writer != place && isPotentiallyReachable(writer, place)) return true;
  return false;
}

void FunctionScope::KeepAlive(const Variable &variable) {
  SmallVector<Instruction *, 4> ends;
  CollectLifetimeEnds(variable.address, ends);
  for (Instruction *end : ends) end->eraseFromParent();
}

}  // namespace gkhi
