// SPDX-License-Identifier: MIT
// Takes over the pads that GKHI_PAD wrote in the source.
#include "marked.hpp"

#include <vector>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "lower.hpp"

namespace gkhi {

using namespace llvm;

namespace {

const InlineAsm *AssemblerOf(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  return call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
}

// Fills the second string of the record:
//   .byte 5,N,0,0 / .asciz "EVENT" / .asciz "" / .asciz "FILE"
// A bare pad becomes the pass's own: its flags are live from now on, so a probe must save them. Returns false
// if the text is not a marked pad's.
bool FillRecord(std::string &text, bool bare, const Function &function) {
  size_t record = text.find(".pushsection gkhi_sites");
  size_t head = text.find("\n.byte 5,", record);
  size_t event = text.find(".asciz \"", record);
  if (head == std::string::npos || event == std::string::npos || head > event) return false;
  size_t end_of_event = text.find('\n', event);
  size_t end_of_head = text.find('\n', head + 1);
  const std::string empty = "\n.asciz \"\"\n";
  const std::string tail = ",0,0";  // kind marked, origin macro
  if (text.compare(end_of_event, empty.size(), empty) != 0) return false;
  if (text.compare(end_of_head - tail.size(), tail.size(), tail) != 0) return false;
  text.replace(end_of_event, empty.size(), "\n.asciz \"" + SourceName(function) + "\"\n");
  if (bare) text.replace(end_of_head - 1, 1, "1");
  return true;
}

bool IsBare(StringRef text) {
  return text.contains(".2byte 0x6b47\n.byte 1,1\n");
}

std::string WithoutFlagClobbers(StringRef constraints) {
  SmallVector<StringRef, 16> parts, kept;
  constraints.split(parts, ',');
  for (StringRef part : parts)
    if (part != "~{cc}" && part != "~{flags}" && part != "~{fpsr}" && part != "~{dirflag}")
      kept.push_back(part);
  std::string out;
  for (StringRef part : kept) out += (out.empty() ? "" : ",") + part.str();
  return out;
}

}  // namespace

unsigned TakeOverMarked(Module &module) {
  unsigned taken = 0;
  for (Function &function : module) {
    std::vector<CallInst *> pads;
    for (Instruction &instruction : instructions(function)) {
      const InlineAsm *assembler = AssemblerOf(instruction);
      if (!assembler) continue;
      StringRef text = assembler->getAsmString();
      if (isa<CallInst>(instruction) && text.contains(".pushsection gkhi_sites")) {
        pads.push_back(cast<CallInst>(&instruction));
        continue;
      }
      if (text.contains("gkhi_hook_"))  // keys and calls of the cold block: no cost to the inliner
        cast<CallBase>(instruction).addFnAttr(Attribute::get(module.getContext(), "call-inline-cost", "0"));
    }
    for (CallInst *pad : pads) {
      auto *assembler = cast<InlineAsm>(pad->getCalledOperand());
      std::string text = assembler->getAsmString().data();
      bool bare = IsBare(text);
      if (!FillRecord(text, bare, function)) continue;
      std::string constraints = assembler->getConstraintString().data();
      if (bare) constraints = WithoutFlagClobbers(constraints);
      pad->setCalledOperand(InlineAsm::get(assembler->getFunctionType(), text, constraints,
                                           assembler->hasSideEffects(), assembler->isAlignStack(),
                                           assembler->getDialect(), assembler->canThrow()));
      SetEffects(*pad, StringRef(constraints).contains('m') ? Reads::kAnything : Reads::kNothing);
      taken++;
    }
  }
  return taken;
}

}  // namespace gkhi
