// SPDX-License-Identifier: MIT
// Emits a marker pad with its map record, and the hook it belongs to.
#include "lower.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#if LLVM_VERSION_MAJOR >= 16
#include "llvm/Support/ModRef.h"
#endif

namespace gkhi {

using namespace llvm;

namespace {

// More operands than this would leave the register allocator without registers in some functions.
constexpr unsigned kMaxRegisters = 8;

// In an asm template '$' starts an operand; in an assembler string '"' and '\' want a backslash.
std::string Quoted(StringRef text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out + "\"";
}

bool IsKernel(const Module &module) {
  return module.getCodeModel() && *module.getCodeModel() == CodeModel::Kernel;
}

// GKHI_ASM_HOOK(sym, event, lo, hi, words, GKHI_HOOK_F_BARE)
std::string HookText(const Event &event) {
  const std::string hook = "gkhi_hook_" + event.symbol, thunk = "gkhi_thunk_" + event.symbol;
  const std::string group = "@progbits," + hook + ",comdat\n";
  return ".ifndef " + hook + "\n.pushsection gkhi_hooks,\"awG\"," + group + ".balign 64\n.weak " + hook +
         "\n.hidden " + hook + "\n.type " + hook + ",@object\n.size " + hook + ",64\n" + hook +
         ":\n.8byte 0,0,0\n.4byte 0,0\n.4byte 993f-.\n.2byte " + utostr(event.fixed_words) + ",1\n.4byte " +
         utostr(event.layout_lo) + "," + utostr(event.layout_hi) +
         "\n.8byte 0,0\n.popsection\n.pushsection .rodata.gkhi_name,\"aG\"," + group + "993: .asciz " +
         Quoted(event.name) + "\n.popsection\n.pushsection .text.gkhi_thunk,\"axG\"," + group + ".weak " +
         thunk + "\n.hidden " + thunk + "\n.type " + thunk + ",@function\n" + thunk + ":\npushq %rcx\nleaq " +
         hook + "(%rip),%rcx\njmpq *(%rcx)\n.size " + thunk + ",.-" + thunk + "\n.popsection\n.endif\n";
}

// The head of the record up to its arguments. The pad keeps the hook through a relocation that does
// nothing: with --gc-sections the linker would drop a hook that nothing names.
std::string RecordHead(const Pad &pad, bool kernel) {
  const Event &event = *pad.event;
  std::string section = kernel ? ".pushsection gkhi_sites,\"a?\",@progbits\n"
                               : ".pushsection gkhi_sites,\"ao?\",@progbits,.Lgkhi_pad${:uid}\n";
  std::string keep = kernel ? "" : ".reloc .,BFD_RELOC_NONE,gkhi_hook_" + event.symbol + "\n";
  return section + ".balign 4\n991:\n" + keep + ".2byte 0x6b47\n.byte 1,1\n.4byte 992f-991b\n.4byte " +
         utostr(event.layout_lo) + "," + utostr(event.layout_hi) + "\n.4byte 990b-.\n.4byte " +
         utostr(pad.line) + "\n.byte 5," + utostr(pad.arguments.size()) + "," + utostr(pad.kind) +
         ",1\n.asciz " + Quoted(event.name) + "\n.asciz " + Quoted(pad.function) + "\n.asciz " +
         Quoted(pad.file) + "\n";
}

// Tells the kernel's objtool that the address of the pad, which the record holds, is no target of indirect
// calls: it would complain of data that points to code without endbr (validate_ibt() in
// tools/objtool/check.c).
constexpr char kNoIndirectTarget[] = ".pushsection .discard.noendbr\n.long 990b\n.popsection\n";

// Collects the operands of one pad and writes the argument part of its record.
class Operands {
 public:
  Operands(IRBuilder<> &builder, size_t overflow) : builder_(builder) {
    if (!overflow) return;
    Function *function = builder.GetInsertBlock()->getParent();
    IRBuilder<> entry(&*function->getEntryBlock().getFirstInsertionPt());
    block_type_ = ArrayType::get(builder.getInt64Ty(), overflow);
    block_ = entry.CreateAlloca(block_type_, nullptr, "gkhi.block");
  }

  void Add(const RecordValue &argument) {
    Value *value = argument.value;
    if (value->getType()->isIntegerTy(1)) value = builder_.CreateZExt(value, builder_.getInt8Ty());
    NoteReads(argument);
    bool in_block = !isa<Constant>(value) && registers_++ >= kMaxRegisters;
    std::string place = in_block ? Spill(value) : "$" + utostr(Operand(value));
    text_ += ".byte '" + std::string(1, argument.letter) + "'," + utostr(argument.size) + "\n.asciz " +
             Quoted(argument.name) + "\n.asciz \"" + place + argument.location + "\"\n";
  }

  static size_t Overflow(const std::vector<RecordValue> &arguments) {
    size_t variable = 0;
    for (const RecordValue &argument : arguments) variable += !isa<Constant>(argument.value);
    return variable > kMaxRegisters ? variable - kMaxRegisters : 0;
  }

  std::string text_, constraints_;
  SmallVector<Type *, 8> types_;
  SmallVector<Value *, 8> values_;
  Reads reads_ = Reads::kNothing;

 private:
  // One dereference reads what an operand points to, if that is a pointer; the next one reads anything.
  void NoteReads(const RecordValue &argument) {
    auto steps = llvm::count(argument.location, '>') + (argument.letter == 'c' || argument.letter == 'b');
    bool direct = steps == 1 && argument.value->getType()->isPointerTy();
    if (steps) reads_ = std::max(reads_, direct ? Reads::kArguments : Reads::kAnything);
  }

  size_t Operand(Value *value) {
    if (!constraints_.empty()) constraints_ += ",";
    // Never "m": clang would spill every operand that may be memory.
    constraints_ += value->getType()->isFloatingPointTy() ? "x" : "nr";
    types_.push_back(value->getType());
    values_.push_back(value);
    return values_.size() - 1;
  }

  std::string Spill(Value *value) {
    if (block_operand_ < 0) block_operand_ = static_cast<int>(Operand(block_));
    Value *slot = builder_.CreateConstInBoundsGEP2_32(block_type_, block_, 0, used_);
    builder_.CreateStore(value, builder_.CreateBitCast(slot, PointerType::get(value->getType(), 0)));
    reads_ = Reads::kAnything;
    return "$" + utostr(block_operand_) + ">" + utostr(8 * used_++);
  }

  IRBuilder<> &builder_;
  Type *block_type_ = nullptr;
  Value *block_ = nullptr;
  int block_operand_ = -1;
  unsigned used_ = 0, registers_ = 0;
};

}  // namespace

// It writes nothing that the program can see; so loads stay where they are, and stores that the probe may
// read are done before it.
void SetEffects(CallBase &call, Reads reads) {
#if LLVM_VERSION_MAJOR >= 16
  MemoryEffects effects = MemoryEffects::inaccessibleMemOnly();
  if (reads == Reads::kArguments) effects |= MemoryEffects::argMemOnly(ModRefInfo::Ref);
  if (reads == Reads::kAnything) effects |= MemoryEffects::readOnly();
  call.setMemoryEffects(effects);
#else
  // LLVM 14 has no word for "reads anything, writes what the program cannot see".
  if (reads == Reads::kNothing) call.addFnAttr(Attribute::InaccessibleMemOnly);
  if (reads == Reads::kArguments) {
    call.addFnAttr(Attribute::InaccessibleMemOrArgMemOnly);
    for (unsigned i = 0; i < call.arg_size(); i++)
      if (call.getArgOperand(i)->getType()->isPointerTy()) call.addParamAttr(i, Attribute::ReadOnly);
  }
#endif
  call.addFnAttr(Attribute::get(call.getContext(), "call-inline-cost", "0"));
}

CallInst *EmitPad(IRBuilder<> &builder, const Pad &pad) {
  Function &function = *builder.GetInsertBlock()->getParent();
  bool kernel = IsKernel(*function.getParent());
  Operands operands(builder, Operands::Overflow(pad.arguments));
  for (const RecordValue &argument : pad.arguments) operands.Add(argument);
  std::string text = (kernel ? "" : HookText(*pad.event)) +
                     ".p2align 3,,4\n.Lgkhi_pad${:uid}:\n990:\n.byte 0x0f,0x1f,0x44,0x00,0x00\n" +
                     RecordHead(pad, kernel) + operands.text_ + ".balign 4\n992:\n.popsection\n" +
                     (kernel ? kNoIndirectTarget : "");
  auto *type = FunctionType::get(builder.getVoidTy(), operands.types_, false);
  InlineAsm *assembler = InlineAsm::get(type, text, operands.constraints_, /*hasSideEffects=*/true);
  CallInst *call = builder.CreateCall(assembler, operands.values_);
  call->setDoesNotThrow();
  SetEffects(*call, operands.reads_);
  DropPurity(function);
  return call;
}

std::string SourceName(const Function &function) {
  const DISubprogram *debug = function.getSubprogram();
  if (!debug) return function.getName().str();
  return (debug->getLinkageName().empty() ? debug->getName() : debug->getLinkageName()).str();
}

void DropPurity(Function &function) {
#if LLVM_VERSION_MAJOR >= 16
  function.removeFnAttr(Attribute::Memory);
#else
  for (auto kind : {Attribute::ReadNone, Attribute::ReadOnly, Attribute::ArgMemOnly,
                    Attribute::InaccessibleMemOnly, Attribute::InaccessibleMemOrArgMemOnly})
    function.removeFnAttr(kind);
#endif
  for (User *user : function.users()) {
    auto *call = dyn_cast<CallBase>(user);
    if (!call || call->getCalledOperand() != &function) continue;
#if LLVM_VERSION_MAJOR >= 16
    call->removeFnAttr(Attribute::Memory);
#else
    call->removeFnAttr(Attribute::ReadNone);
    call->removeFnAttr(Attribute::ReadOnly);
#endif
  }
}

}  // namespace gkhi
