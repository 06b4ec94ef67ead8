// SPDX-License-Identifier: MIT
// Stress mode: a marker at every function's entry and at every n-th call.
#include "stress.hpp"

#include <map>
#include <set>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "lower.hpp"
#include "places.hpp"

namespace gkhi {

using namespace llvm;

namespace {

constexpr unsigned kMaxValues = 8;

std::map<size_t, const Event *> EventsBySize(const Config &config) {
  std::map<size_t, const Event *> events;
  for (const Provider &provider : config.providers)
    for (const Event &event : provider.events)
      if (event.sites.empty()) events.emplace(event.fields.size(), &event);
  return events;
}

std::vector<Place> PlacesOf(Function &function, unsigned every) {
  std::vector<Place> places{EntryPlace(function)};
  unsigned count = 0;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    if (!call || isa<IntrinsicInst>(call) || call->isInlineAsm() || !call->getDebugLoc()) continue;
    if (auto *plain = dyn_cast<CallInst>(call))
      if (plain->isMustTailCall()) continue;
    if (count++ % every) continue;
    Place place;
    place.before = call;
    place.location = call->getDebugLoc().get();
    place.call = call;
    place.kind = kBeforeCall;
    places.push_back(place);
  }
  return places;
}

// The first plain member behind a pointer to a struct, as "p->member"; "" if there is none.
std::string FirstMember(const Variable &variable) {
  const DIType *type = variable.debug->getType();
  if (!IsPointer(type)) return "";
  const DICompositeType *pointee = Aggregate(Pointee(type));
  if (!pointee || IsArray(pointee) || pointee->isForwardDecl()) return "";
  std::string found;
  ForEachMember(pointee, [&](StringRef name) {
    if (!found.empty()) return;
    char letter = Classify(FindMember(pointee, name).type).letter;
    if (letter == 'u' || letter == 's' || letter == 'p') found = name.str();
  });
  return found.empty() ? "" : variable.debug->getName().str() + "->" + found;
}

// Every scalar that is in scope, and one member behind each pointer.
std::vector<std::string> Expressions(const FunctionScope &scope, const Place &place) {
  std::vector<std::string> expressions;
  std::set<StringRef> seen;
  for (const Variable &variable : scope.variables()) {
    StringRef name = variable.debug->getName();
    bool earlier = variable.debug->isParameter() || variable.debug->getLine() < place.location->getLine();
    if (name.empty() || !earlier || !FunctionScope::IsVisible(variable, place.location)) continue;
    if (!seen.insert(name).second) continue;
    ValueClass value = Classify(variable.debug->getType());
    if (value.letter == 'b' || value.size > 8 || IsArray(variable.debug->getType())) continue;
    if (!FunctionScope::MayHaveValue(variable, place.before)) continue;
    expressions.push_back(name.str());
    std::string member = FirstMember(variable);
    if (!member.empty()) expressions.push_back(member);
  }
  if (expressions.size() > kMaxValues) expressions.resize(kMaxValues);
  return expressions;
}

std::vector<RecordValue> Arguments(const std::vector<std::string> &expressions, Evaluator &evaluator) {
  std::vector<RecordValue> arguments;
  for (const std::string &expression : expressions) {
    auto operand = evaluator.Evaluate(expression);
    if (!operand) continue;
    ValueClass value = ClassOf(*operand);
    if (value.letter == 'f' || value.letter == 'b') continue;
    if (value.letter == 'c') value = {'p', 8, false};
    arguments.push_back({"", value.letter, value.size, operand->base, operand->chain});
  }
  return arguments;
}

}  // namespace

unsigned PlaceEverywhere(Module &module, const Config &config) {
  auto events = EventsBySize(config);
  unsigned sites = 0;
  for (Function &function : module) {
    if (function.isDeclaration() || !function.getSubprogram() || function.hasFnAttribute(Attribute::Naked))
      continue;
    FunctionScope scope(function);
    for (const Place &place : PlacesOf(function, config.stress)) {
      IRBuilder<> builder(place.before);
      builder.SetCurrentDebugLocation(DebugLoc(place.location));
      Evaluator evaluator(builder, scope, place);
      Pad pad{nullptr,
              SourceName(function),
              place.location->getFilename().str(),
              place.location->getLine(),
              place.kind,
              Arguments(Expressions(scope, place), evaluator)};
      while (!pad.arguments.empty() && !events.count(pad.arguments.size())) pad.arguments.pop_back();
      if (!events.count(pad.arguments.size())) continue;
      pad.event = events[pad.arguments.size()];
      for (size_t i = 0; i < pad.arguments.size(); i++) pad.arguments[i].name = pad.event->fields[i].name;
      EmitPad(builder, pad);
      sites++;
    }
  }
  return sites;
}

}  // namespace gkhi
