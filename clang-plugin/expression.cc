// SPDX-License-Identifier: MIT
// Parses the expressions of a `site:`: names, operators, casts.
#include "expression.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "report.hpp"

namespace gkhi {

using namespace llvm;

namespace {

constexpr unsigned kMaxDepth = 64;
constexpr unsigned kMaxSteps = 11;  // a location has twelve; one may be the stack block's

bool IsName(char c) {
  return isAlnum(c) || c == '_';
}

// The casts that name a record's letter; size 0 keeps the operand's.
struct LetterCast {
  const char *name;
  char letter;
  unsigned size;
};
constexpr LetterCast kLetterCasts[] = {
    {"str", 'c', 8}, {"bytes", 'b', 8}, {"ptr", 'p', 8}, {"u8", 'u', 1},  {"u16", 'u', 2}, {"u32", 'u', 4},
    {"u64", 'u', 8}, {"s8", 's', 1},    {"s16", 's', 2}, {"s32", 's', 4}, {"s64", 's', 8},
};

}  // namespace

std::optional<Operand> Evaluator::Evaluate(StringRef text) {
  text_ = text;
  at_ = 0;
  depth_ = 0;
  unassigned_ = nullptr;
  Result operand = Unary();
  if (!operand) return std::nullopt;
  Skip();
  if (at_ != text_.size()) {
    token_ = at_;
    return Fail("found '" + text_.substr(at_).str() + "', wanted an operator or the end");
  }
  ToValue(*operand);
  token_ = 0;
  if (llvm::count_if(operand->chain, [](char c) { return c == '>' || c == '+'; }) > kMaxSteps)
    return Fail("the value is behind more than " + utostr(kMaxSteps) + " pointers and members");
  return operand;
}

Evaluator::Result Evaluator::Fail(const std::string &message) {
  error_ = {message, token_};
  return std::nullopt;
}

void Evaluator::Skip() {
  while (at_ < text_.size() && isSpace(text_[at_])) at_++;
}

bool Evaluator::Take(StringRef token) {
  Skip();
  StringRef rest = text_.substr(at_);
  if (!rest.consume_front(token)) return false;
  token_ = at_;
  at_ += token.size();
  return true;
}

StringRef Evaluator::Identifier() {
  Skip();
  token_ = at_;
  size_t start = at_;
  while (at_ < text_.size() && IsName(text_[at_])) at_++;
  return text_.slice(start, at_);
}

Evaluator::Result Evaluator::Unary() {
  if (++depth_ > kMaxDepth) return Fail("the expression is nested too deeply");
  if (Take("&")) {
    Result operand = Unary();
    return operand ? AddressOf(*operand) : operand;
  }
  if (Take("*")) {
    Result operand = Unary();
    return operand ? Dereference(*operand) : operand;
  }
  size_t start = at_;
  if (Take("(")) {
    size_t close = text_.find(')', at_);
    StringRef inner = close == StringRef::npos ? "" : text_.slice(at_, close).trim();
    bool is_type = !inner.empty() &&
                   llvm::all_of(inner, [](char c) { return IsName(c) || c == '*' || c == ' ' || c == ':'; });
    // "(x)" is an expression when x is a variable or nothing follows that a cast could apply to.
    StringRef rest = close == StringRef::npos ? "" : text_.substr(close + 1).ltrim();
    bool applies = !rest.empty() && (IsName(rest[0]) || rest[0] == '(' || rest[0] == '$' || rest[0] == '&' ||
                                     rest[0] == '*' || rest[0] == ':');
    if (is_type && applies) {
      at_ = close + 1;
      return Cast(inner);
    }
    at_ = start;
  }
  return Postfix();
}

Evaluator::Result Evaluator::Cast(StringRef name) {
  size_t where = token_;
  Result operand = Unary();
  if (!operand) return operand;
  token_ = where;
  return CastTo(name, *operand);
}

Evaluator::Result Evaluator::CastTo(StringRef name, Operand operand) {
  ToValue(operand);
  ValueClass from = ClassOf(operand);
  bool is_integer = from.letter == 'u' || from.letter == 's' || from.letter == 'i';
  bool is_pointer = from.letter == 'p' || from.letter == 'c' || IsArray(operand.type);
  operand.is_cast = true;
  if (name == "bool" || name == "f64") {
    if (!operand.chain.empty())
      return Fail("(" + name.str() + ") needs the value itself, which is behind a pointer");
    if (name == "bool" && !is_integer && !is_pointer) return Fail("(bool) needs an integer or a pointer");
    if (name == "f64" && from.letter != 'f') return Fail("(f64) needs a floating-point value");
    if (name == "bool") operand.base = builder_.CreateIsNotNull(operand.base);
    if (name == "f64") operand.base = builder_.CreateFPExt(operand.base, builder_.getDoubleTy());
    operand.letter = name == "bool" ? 'u' : 'f';
    operand.size = name == "bool" ? 1 : 8;
    operand.type = nullptr;
    return operand;
  }
  for (const LetterCast &cast : kLetterCasts) {
    if (name != cast.name) continue;
    bool to_integer = cast.letter == 'u' || cast.letter == 's';
    if (!is_integer && !is_pointer) return Fail("cannot cast '" + TypeOf(operand) + "' to " + name.str());
    if (!to_integer && !is_pointer && from.size != 8)
      return Fail("cannot cast '" + TypeOf(operand) + "' to a pointer: it has " + utostr(from.size) +
                  " bytes");
    unsigned size = is_pointer ? 8 : from.size;
    // A wider integer keeps the letter of its source: it is widened as C widens it.
    bool narrower = to_integer && cast.size <= size;
    operand.letter = narrower || !to_integer ? cast.letter : from.letter;
    operand.size = narrower || !to_integer ? cast.size : size;
    operand.type = nullptr;
    if (to_integer && operand.chain.empty()) {
      if (operand.base->getType()->isPointerTy())
        operand.base = builder_.CreatePtrToInt(operand.base, builder_.getInt64Ty());
      if (operand.base->getType()->getIntegerBitWidth() > 8 * operand.size)
        operand.base = builder_.CreateTrunc(operand.base, builder_.getIntNTy(8 * operand.size));
    }
    if (operand.bits && narrower && operand.bits->width > 8 * cast.size)
      return Fail("a bit-field of " + utostr(operand.bits->width) + " bits does not fit " + name.str());
    if (operand.bits) operand.size = operand.bits->size;
    return operand;
  }
  const DIType *type = FindType(*scope_.function().getParent(), name);
  if (!type)
    return Fail("'" + name.str() +
                "' is no type of this file, nor one of str, bytes, ptr, bool, u8 to u64, s8 to s64, f64");
  if (!IsPointer(type))
    return Fail("'" + name.str() + "' is no pointer type; for values, cast to u8 to u64, s8 to s64");
  if (!is_pointer && from.size != 8) return Fail("cannot cast '" + TypeOf(operand) + "' to a pointer");
  operand.type = type;
  operand.letter = 0;
  return operand;
}

Evaluator::Result Evaluator::Postfix() {
  Result operand = Primary();
  while (operand) {
    if (Take("->"))
      operand = MemberOf(*operand, true);
    else if (Take("."))
      operand = MemberOf(*operand, false);
    else if (Take("["))
      operand = Index(*operand);
    else
      return operand;
    if (operand) operand = FollowReference(*operand);
  }
  return operand;
}

Evaluator::Result Evaluator::Primary() {
  Skip();
  token_ = at_;
  if (Take("(")) {
    Result operand = Unary();
    if (!operand) return operand;
    if (!Take(")")) {
      token_ = at_;
      return Fail("wanted ')'");
    }
    return operand;
  }
  if (Take("$ret")) return Returned();
  if (Take("$arg")) return CallArgument();
  if (at_ < text_.size() && (isDigit(text_[at_]) || text_[at_] == '-')) return Literal();
  return Name();
}

Evaluator::Result Evaluator::Literal() {
  size_t start = at_;
  if (text_[at_] == '-') at_++;
  while (at_ < text_.size() && IsName(text_[at_])) at_++;
  int64_t value = 0;
  uint64_t large = 0;
  StringRef digits = text_.slice(start, at_);
  if (digits.getAsInteger(0, value)) {
    if (digits.getAsInteger(0, large)) return Fail("'" + digits.str() + "' is no number");
    value = static_cast<int64_t>(large);
  }
  Operand operand;
  operand.base = builder_.getInt64(static_cast<uint64_t>(value));
  operand.letter = value < 0 ? 's' : 'u';
  operand.size = 8;
  operand.is_cast = true;
  return operand;
}

Evaluator::Result Evaluator::Name() {
  StringRef name = Identifier();
  size_t start = token_;
  while (!name.empty() && text_.substr(at_, 2) == "::") {
    at_ += 2;
    StringRef next = Identifier();
    token_ = start;
    if (next.empty()) return Fail("wanted a name behind '::'");
    name = text_.slice(start, at_);
  }
  if (name.empty())
    return Fail(at_ == text_.size() ? "the expression ends where a name is wanted"
                                    : "found '" + text_.substr(at_, 1).str() + "' where a name is wanted");
  if (const Variable *variable = scope_.Find(name, place_.location))
    return FollowReference(FromVariable(*variable));
  GlobalName global = scope_.FindGlobal(name, place_.location);
  if (global.global) {
    Operand operand;
    operand.base = global.global;
    operand.type = global.type;
    operand.storage = Storage::kMemory;
    if (!global.type && !global.global->getValueType()->isSingleValueType())
      return Fail("'" + name.str() + "' is declared here but defined in another file: its type is not known");
    return FollowReference(operand);
  }
  if (const Variable *self = scope_.Find("this", place_.location)) {
    Operand operand = FromVariable(*self);
    auto *type = Aggregate(Pointee(operand.type));
    if (type && FindMember(type, name).type) {
      at_ = start;
      Result member = MemberOf(operand, true);
      return member ? FollowReference(*member) : member;
    }
  }
  return Fail("no variable '" + name.str() + "' at this place" + scope_.WhyNot(name, place_.location));
}

Evaluator::Result Evaluator::Returned() {
  if (place_.kind != GKHI_SITE_RETURN && place_.kind != GKHI_SITE_AFTER_CALL)
    return Fail("$ret has a value only at return and after_call");
  if (!place_.returned) return Fail("$ret: the function returns nothing");
  Operand operand;
  operand.base = place_.returned;
  operand.type = place_.returned_type;
  Type *type = place_.returned->getType();
  if (operand.type && Aggregate(operand.type)) {
    if (!type->isPointerTy())
      return Fail("$ret is a '" + TypeName(operand.type) +
                  "' in registers; name a member of the variable instead");
    operand.storage = Storage::kMemory;
    return operand;
  }
  if (type->isStructTy() || type->isVectorTy() || type->isArrayTy())
    return Fail("$ret is an aggregate in registers; name a member of the variable instead");
  return FollowReference(operand);
}

Evaluator::Result Evaluator::CallArgument() {
  size_t start = token_;
  StringRef digits = Identifier();
  token_ = start;
  unsigned number = 0;
  if (digits.getAsInteger(10, number) || !number) return Fail("wanted $arg1, $arg2, ...");
  if (!place_.call) return Fail("$arg" + utostr(number) + " has a value only at before_call and after_call");
  if (number > place_.call->arg_size())
    return Fail("$arg" + utostr(number) + ": the call has " + utostr(place_.call->arg_size()) +
                (place_.call->arg_size() == 1 ? " argument" : " arguments"));
  Operand operand;
  operand.base = place_.call->getArgOperand(number - 1);
  if (Function *callee = place_.call->getCalledFunction())
    if (DISubprogram *debug = callee->getSubprogram())
      if (debug->getType() && number < debug->getType()->getTypeArray().size())
        operand.type = debug->getType()->getTypeArray()[number];
  return FollowReference(operand);
}

}  // namespace gkhi
