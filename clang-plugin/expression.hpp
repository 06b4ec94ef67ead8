// SPDX-License-Identifier: MIT
// The expressions of a `site:` and what they are at a place in the program.
//
//   expr    := "(" cast ")" expr | "&" expr | "*" expr | primary postfix...
//   primary := NAME | NS::NAME | "$ret" | "$arg" N | NUMBER | "(" expr ")"
//   postfix := "." NAME | "->" NAME | "[" NUMBER "]"
//   cast    := str | bytes | ptr | bool | u8 … s64 | f64 | a C type of this unit, "struct foo *"
//
// What lies behind a pointer is never loaded by inserted code: it might fault, and the optimizer would
// conclude that the pointer is valid. Such a value becomes a chain of the map record, which the probe
// follows with fault-safe reads.
#ifndef GKHI_CLANG_PLUGIN_EXPRESSION_HPP
#define GKHI_CLANG_PLUGIN_EXPRESSION_HPP

#include <gkhi/abi.h>

#include <optional>
#include <string>

#include "debug_types.hpp"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Error.h"
#include "scope.hpp"

namespace gkhi {

// Where an expression is evaluated.
struct Place {
  llvm::Instruction *before = nullptr;  // the pad goes in front of this
  const llvm::DILocation *location = nullptr;
  llvm::CallBase *call = nullptr;   // before_call and after_call
  llvm::Value *returned = nullptr;  // $ret, if there is one
  const llvm::DIType *returned_type = nullptr;
  unsigned kind = 0;  // enum gkhi_site_kind
};

enum class Storage {
  kValue,   // base is the value, or the start of a chain
  kMemory,  // base + offset is an object of the program that is always there
  kProbe,   // base, chain and offset name memory behind a pointer
};

struct Operand {
  llvm::Value *base = nullptr;
  const llvm::DIType *type = nullptr;  // NULL: unknown, or the letter says all
  Storage storage = Storage::kValue;
  int64_t offset = 0;
  unsigned dimension = 0;  // indices applied to a type with several bounds
  std::string chain;
  std::optional<BitField> bits;
  // Set by a cast: the record's letter and size, whatever the type says.
  char letter = 0;
  unsigned size = 0;
  bool is_cast = false;
};

// Letter and size of a value: 'i' is an integer whose sign nobody knows (a callee without debug information).
ValueClass ClassOf(const Operand &operand);
// Its type in words.
std::string TypeOf(const Operand &operand);

// What is wrong with an expression, and where in its text.
struct ExpressionError {
  std::string message;
  size_t offset = 0;
};

class Evaluator {
 public:
  Evaluator(llvm::IRBuilder<> &builder, const FunctionScope &scope, const Place &place)
      : builder_(builder), scope_(scope), place_(place) {}

  // The value of an expression, its loads inserted at the builder. NULL on error: see error().
  std::optional<Operand> Evaluate(llvm::StringRef text);
  [[nodiscard]] const ExpressionError &error() const { return error_; }
  // A variable that the expression read and that no store can have reached; NULL if there is none.
  [[nodiscard]] const Variable *unassigned() const { return unassigned_; }

 private:
  using Result = std::optional<Operand>;

  Result Fail(const std::string &message);
  void Skip();
  bool Take(llvm::StringRef token);
  llvm::StringRef Identifier();

  Result Unary();
  Result Cast(llvm::StringRef name);
  Result CastTo(llvm::StringRef name, Operand operand);
  Result Postfix();
  Result Primary();
  Result Name();
  Result Returned();
  Result CallArgument();
  Result Literal();
  Result Dereference(Operand operand);
  Result AddressOf(Operand operand);
  Result MemberOf(Operand operand, bool arrow);
  Result Index(Operand operand);

  Operand FromVariable(const Variable &variable);
  Operand FollowReference(Operand operand);
  void Load(Operand &operand);
  void ToValue(Operand &operand);
  void LoadBits(Operand &operand);
  llvm::Value *Address(const Operand &operand);
  llvm::LoadInst *LoadSafely(llvm::Type *type, llvm::Value *address);

  llvm::IRBuilder<> &builder_;
  const FunctionScope &scope_;
  const Place &place_;
  llvm::StringRef text_;
  size_t at_ = 0, token_ = 0;
  unsigned depth_ = 0;
  ExpressionError error_;
  const Variable *unassigned_ = nullptr;
};

}  // namespace gkhi

#endif
