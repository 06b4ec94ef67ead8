// SPDX-License-Identifier: MIT
// Finds the places in a function that a `site:` names.
#include "places.hpp"

#include "lower.hpp"

#include <map>

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace gkhi {

using namespace llvm;

namespace {

const DILocation *FunctionLocation(Function &function) {
  DISubprogram *debug = function.getSubprogram();
  return DILocation::get(function.getContext(), debug->getLine(), 0, debug);
}

const DILocation *LocationOf(const Instruction &instruction, Function &function) {
  const DILocation *location = instruction.getDebugLoc().get();
  return location && !location->getInlinedAt() && location->getLine() ? location : FunctionLocation(function);
}

StringRef WithoutTemplate(StringRef name) {
  size_t open = name.find('<');
  // operator<, operator<<
  if (open == StringRef::npos || open == 0 || name.take_front(open).consume_back("operator")) return name;
  return name.take_front(open);
}

const DIType *ReturnType(const DISubprogram *debug) {
  if (!debug || !debug->getType()) return nullptr;
  auto types = debug->getType()->getTypeArray();
  return types.size() ? types[0] : nullptr;
}

Function *Callee(const CallBase &call) {
  return dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
}

bool IsMustTail(const Instruction *instruction) {
  auto *call = dyn_cast_or_null<CallInst>(instruction);
  return call && call->isMustTailCall();
}

// memcpy() and its kin have become intrinsics: llvm.memcpy.p0.p0.i64.
bool CallsNamed(const CallBase &call, StringRef name) {
  Function *callee = Callee(call);
  if (!callee) return false;
  if (!callee->isIntrinsic()) return IsNamed(*callee, name);
  StringRef rest = callee->getName();
  return rest.consume_front("llvm.") && rest.consume_front(name) && (rest.empty() || rest[0] == '.');
}

// ------------------------------------------------------------------ return

PlaceSet ReturnPlaces(Function &function, const Site &site) {
  PlaceSet found;
  found.position = site.at_position;
  for (BasicBlock &block : function) {
    auto *ret = dyn_cast<ReturnInst>(block.getTerminator());
    if (!ret) continue;
    if (IsMustTail(block.getTerminatingMustTailCall())) {
      found.places.clear();
      found.problem = "'" + site.function +
                      "' ends in a musttail call: no marker can stand between the call "
                      "and the return; use before_call";
      return found;
    }
    Place place;
    place.before = ret;
    place.location = LocationOf(*ret, function);
    place.kind = kReturn;
    place.returned = ret->getReturnValue();
    place.returned_type = ReturnType(function.getSubprogram());
    // A struct is returned in registers, loaded from the variable: name its members there.
    if (place.returned && place.returned_type && Aggregate(place.returned_type))
      if (auto *load = dyn_cast<LoadInst>(place.returned))
        if (auto *slot = dyn_cast<AllocaInst>(load->getPointerOperand()->stripInBoundsConstantOffsets()))
          place.returned = slot;
    if (!place.returned && function.hasStructRetAttr()) place.returned = function.getArg(0);
    found.places.push_back(place);
  }
  if (found.places.empty()) found.problem = "'" + site.function + "' never returns";
  return found;
}

// ------------------------------------------------------------------- calls

// Where the call may have moved to.
Function *CallerOf(Module &module, StringRef callee) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (CallsNamed(*call, callee)) return &function;
  return nullptr;
}

std::string NoCallProblem(Function &function, const Site &site) {
  Nearest nearest(site.callee);
  unsigned indirect = 0;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    if (!call || call->isInlineAsm()) continue;
    Function *callee = Callee(*call);
    if (!callee)
      indirect++;
    else if (callee->getSubprogram())
      nearest.Offer(callee->getSubprogram()->getName());
    else if (!callee->isIntrinsic())
      nearest.Offer(callee->getName());
  }
  std::string text = "'" + site.function + "' does not call '" + site.callee + "'" + nearest.Hint();
  if (Function *caller = CallerOf(*function.getParent(), site.callee))
    return text + "; '" + SourceName(*caller) + "' does";
  if (nearest.name().empty() && indirect)
    text += "; calls through a pointer have no name: use 'at: line' with the text of the call";
  return text;
}

// The instruction behind a call. The normal way out of an invoke may be shared with others.
Instruction *Behind(CallBase &call) {
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (!invoke) return call.getNextNode();
  BasicBlock *next = invoke->getNormalDest();
  if (!next->getSinglePredecessor()) next = SplitEdge(invoke->getParent(), next);
  return &*next->getFirstInsertionPt();
}

PlaceSet CallPlaces(Function &function, const Site &site, bool after) {
  PlaceSet found;
  found.position = site.callee_position;
  std::vector<CallBase *> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction))
      if (!call->isInlineAsm() && !isa<CallBrInst>(call) && CallsNamed(*call, site.callee))
        calls.push_back(call);
  if (calls.empty()) found.problem = NoCallProblem(function, site);
  for (CallBase *call : calls) {
    Place place;
    place.location = LocationOf(*call, function);
    place.call = call;
    place.kind = after ? kAfterCall : kBeforeCall;
    place.before = call;
    if (after) {
      std::string line = " in line " + utostr(place.location->getLine());
      if (IsMustTail(call))
        found.problem = "the call of '" + site.callee + "'" + line +
                        " is a musttail call: no marker can stand behind it; use before_call";
      if (call->doesNotReturn())
        found.problem = "'" + site.callee + "', called" + line + ", never returns; use before_call";
      if (!found.problem.empty()) break;
      place.before = Behind(*call);
      place.returned = call->getType()->isVoidTy() ? nullptr : call;
      if (Function *callee = Callee(*call)) place.returned_type = ReturnType(callee->getSubprogram());
    }
    found.places.push_back(place);
  }
  if (!found.problem.empty()) found.places.clear();
  return found;
}

// -------------------------------------------------------------------- line

bool IsCode(const Instruction &instruction) {
  return !isa<AllocaInst>(instruction) && !isa<DbgInfoIntrinsic>(instruction) && !isa<PHINode>(instruction) &&
         !isa<LandingPadInst>(instruction);
}

// First instruction of each line of the function, in the order of the code.
std::map<unsigned, Instruction *> LinesOf(Function &function) {
  std::map<unsigned, Instruction *> lines;
  for (Instruction &instruction : instructions(function)) {
    const DILocation *location = instruction.getDebugLoc().get();
    if (location && location->getLine() && !location->getInlinedAt() && IsCode(instruction) &&
        location->getFile() == function.getSubprogram()->getFile())
      lines.emplace(location->getLine(), &instruction);
  }
  return lines;
}

std::vector<unsigned> LinesWith(StringRef text, StringRef wanted, unsigned first, unsigned last) {
  std::vector<unsigned> lines;
  for (unsigned line = 1; !text.empty() && line <= last; line++) {
    auto split = text.split('\n');
    if (line >= first && split.first.contains(wanted)) lines.push_back(line);
    text = split.second;
  }
  return lines;
}

PlaceSet LinePlaces(Function &function, const Site &site, const Reporter &reporter) {
  PlaceSet found;
  found.position = site.text_position;
  DISubprogram *debug = function.getSubprogram();
  std::string path = reporter.Find(debug->getFile());
  auto source = MemoryBuffer::getFile(path);
  if (!source) {
    found.problem = "cannot read '" + path + "' to look for the text: " + source.getError().message();
    return found;
  }
  std::map<unsigned, Instruction *> code = LinesOf(function);
  unsigned last = code.empty() ? debug->getLine() : code.rbegin()->first;
  auto lines = LinesWith((*source)->getBuffer(), site.text, debug->getLine(), last);
  if (lines.empty()) {
    found.problem = "no line of '" + site.function + "' contains the text '" + site.text + "'";
    return found;
  }
  if (lines.size() > 1) {
    found.problem = "the text '" + site.text + "' is in lines " + utostr(lines[0]) + " and " +
                    utostr(lines[1]) + " of '" + site.function + "': make it longer, it must name one";
    return found;
  }
  auto at = code.find(lines[0]);
  if (at == code.end()) {
    found.problem = "line " + utostr(lines[0]) + ", which contains the text '" + site.text +
                    "', has no code of its own; name a line that computes, calls or stores something";
    return found;
  }
  Place place;
  place.before = at->second;
  place.location = LocationOf(*place.before, function);
  place.kind = kLine;
  found.places.push_back(place);
  return found;
}

}  // namespace

// Coerced struct parameters put address computations between the stores, so it is the last store that counts.
Place EntryPlace(Function &function) {
  BasicBlock &block = function.getEntryBlock();
  Instruction *last = nullptr;
  for (Instruction &instruction : block)
    if (auto *store = dyn_cast<StoreInst>(&instruction))
      if (isa<llvm::Argument>(store->getValueOperand())) last = &instruction;
  Instruction *before = last ? last->getNextNode() : &*block.getFirstInsertionPt();
  while (isa<AllocaInst>(before) || isa<DbgInfoIntrinsic>(before)) before = before->getNextNode();
  Place place;
  place.before = before;
  place.location = FunctionLocation(function);
  place.kind = kEntry;
  return place;
}

PlaceSet FindPlaces(Function &function, const Site &site, const Reporter &reporter) {
  if (site.at == "return") return ReturnPlaces(function, site);
  if (site.at == "before_call") return CallPlaces(function, site, false);
  if (site.at == "after_call") return CallPlaces(function, site, true);
  if (site.at == "line") return LinePlaces(function, site, reporter);
  PlaceSet found;
  found.position = site.at_position;
  if (site.at == "entry")
    found.places.push_back(EntryPlace(function));
  else
    found.problem = "found 'at: " + site.at + "', wanted entry, return, before_call, after_call or line";
  return found;
}

bool IsNamed(const Function &function, StringRef name) {
  if (function.getName() == name) return true;
  const DISubprogram *debug = function.getSubprogram();
  if (!debug) return false;
  StringRef own = debug->getName();
  if (own == name || WithoutTemplate(own) == name || debug->getLinkageName() == name) return true;
  if (!name.contains("::")) return false;
  return QualifiedName(debug->getScope(), own) == name ||
         QualifiedName(debug->getScope(), WithoutTemplate(own)) == name;
}

bool PathEndsIn(StringRef path, StringRef wanted) {
  if (!path.consume_back(wanted)) return false;
  return path.empty() || path.back() == '/';
}

}  // namespace gkhi
