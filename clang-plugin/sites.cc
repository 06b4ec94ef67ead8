// SPDX-License-Identifier: MIT
// Places the hooks of a configuration in a module.
#include "sites.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfo.h"

namespace gkhi {

using namespace llvm;

namespace {

Position Or(Position wanted, Position fallback) {
  return wanted.line ? wanted : fallback;
}

const SiteArgument *ArgumentOf(const Site &site, StringRef field) {
  for (const SiteArgument &argument : site.arguments)
    if (argument.field == field) return &argument;
  return nullptr;
}

bool IsCounted(const Field &field) {
  return field.type == 'b' || field.form == 2;
}

// The u32 count of a sequence or of bytes is an argument of its own: "name.len".
Field CountOf(const Field &field) {
  Field count;
  count.name = field.name + ".len";
  count.declared = "u32";
  count.type = 'u';
  count.size = 4;
  return count;
}

std::string EventText(const Event &event) {
  return "event '" + event.name + "': ";
}

}  // namespace

void SitePlacer::NoteSource(const struct Place &place, const std::string &message) {
  const DILocation *location = place.location;
  reporter_.AtSource(location->getFile(), location->getLine(), location->getColumn(), Severity::kNote,
                     message);
}

void SitePlacer::ReportNoFunction(const Provider &provider, const Event &event, const Site &site) {
  Nearest nearest(site.function);
  const DISubprogram *near = nullptr;
  const DIFile *elsewhere = nullptr;
  for (Function &function : module_) {
    const DISubprogram *debug = function.getSubprogram();
    if (function.isDeclaration() || !debug) continue;
    if (IsNamed(function, site.function)) elsewhere = debug->getFile();
    std::string before = nearest.name();
    nearest.Offer(debug->getName());
    if (nearest.name() != before) near = debug;
  }
  std::string text =
      EventText(event) + "no function '" + site.function + "' in " + module_.getSourceFileName();
  if (elsewhere)
    text += "; '" + elsewhere->getFilename().str() + "' has one";
  else
    text += nearest.Hint();
  if (!elsewhere && !near) text += " (a static function that nothing calls is not compiled)";
  reporter_.AtYaml(provider, Or(site.function_position, site.position),
                   site.optional ? Severity::kWarning : Severity::kError, text);
  if (!elsewhere && near)
    reporter_.AtSource(near->getFile(), near->getLine(), 0, Severity::kNote,
                       "'" + near->getName().str() + "' is here");
}

std::vector<Function *> SitePlacer::Functions(const Provider &provider, const Event &event,
                                              const Site &site) {
  std::vector<Function *> functions;
  bool without_debug = false;
  for (Function &function : module_) {
    if (function.isDeclaration() || !IsNamed(function, site.function)) continue;
    const DISubprogram *debug = function.getSubprogram();
    if (!debug)
      without_debug = true;
    else if (PathEndsIn(debug->getFile()->getFilename(), site.file))
      functions.push_back(&function);
  }
  if (!functions.empty() || !PathEndsIn(module_.getSourceFileName(), site.file)) return functions;
  if (without_debug)
    reporter_.AtYaml(
        provider, Or(site.function_position, site.position), Severity::kError,
        EventText(event) + "'" + site.function +
            "' has no debug information: compile with -g, or with gkhi-cc, which takes it out again");
  else
    ReportNoFunction(provider, event, site);
  return functions;
}

bool SitePlacer::MayBeProbed(const Provider &provider, const Event &event, const Site &site,
                             Function &function) {
  bool naked = function.hasFnAttribute(Attribute::Naked);
  bool noinstr = function.getSection() == ".noinstr.text";
  if (!naked && !noinstr) return true;
  reporter_.AtYaml(provider, Or(site.function_position, site.position), Severity::kError,
                   EventText(event) + "'" + site.function + "' is " + (naked ? "naked" : "noinstr") +
                       ": it must not be probed");
  return false;
}

bool SitePlacer::CheckFields(const Provider &provider, const Event &event, const Site &site) {
  bool good = true;
  for (const Field &field : event.fields) {
    std::string missing;
    if (!ArgumentOf(site, field.name))
      missing = field.name;
    else if (IsCounted(field) && !ArgumentOf(site, field.name + ".len"))
      missing = field.name + ".len";
    if (missing.empty()) continue;
    reporter_.AtYaml(provider, site.position, Severity::kError,
                     EventText(event) + "field '" + missing + "' has no expression in this site");
    good = false;
  }
  for (const SiteArgument &argument : site.arguments) {
    bool known = false;
    Nearest nearest(argument.field);
    for (const Field &field : event.fields) {
      known |= argument.field == field.name || (IsCounted(field) && argument.field == field.name + ".len");
      nearest.Offer(field.name);
    }
    if (known) continue;
    reporter_.AtYaml(provider, Or(argument.position, site.position), Severity::kError,
                     EventText(event) + "it has no field '" + argument.field + "'" + nearest.Hint());
    good = false;
  }
  return good;
}

bool SitePlacer::MakeArgument(const Provider &provider, const Event &event, const Field &field,
                              const SiteArgument &source, Evaluator &evaluator, const struct Place &place,
                              Pad &pad) {
  auto operand = evaluator.Evaluate(source.expression);
  std::string problem = operand ? "" : evaluator.error().message;
  size_t offset = operand ? 0 : evaluator.error().offset;
  RecordValue argument;
  if (operand) problem = FitField(field, *operand, argument);
  if (problem.empty()) {
    if (const Variable *variable = evaluator.unassigned()) {
      reporter_.AtYaml(provider, source.position, Severity::kWarning,
                       EventText(event) + "'" + variable->debug->getName().str() +
                           "' has no value yet at this place: what is recorded is garbage");
      NoteSource(place, "the place is here, in '" + pad.function + "'");
    }
    pad.arguments.push_back(std::move(argument));
    return true;
  }
  Position position = source.position;
  position.column += static_cast<unsigned>(offset);
  reporter_.AtYaml(provider, position, Severity::kError, EventText(event) + problem);
  NoteSource(place, "the place is here, in '" + pad.function + "'");
  return false;
}

void SitePlacer::Insert(const Provider &provider, const Event &event, const Site &site,
                        const FunctionScope &scope, const struct Place &place) {
  IRBuilder<> builder(place.before);
  builder.SetCurrentDebugLocation(DebugLoc(place.location));
  Evaluator evaluator(builder, scope, place);
  Pad pad{&event,
          SourceName(scope.function()),
          place.location->getFilename().str(),
          place.location->getLine(),
          place.kind,
          {}};
  bool good = true;
  for (const Field &field : event.fields) {
    good &= MakeArgument(provider, event, field, *ArgumentOf(site, field.name), evaluator, place, pad);
    if (!IsCounted(field)) continue;
    Field count = CountOf(field);
    good &= MakeArgument(provider, event, count, *ArgumentOf(site, count.name), evaluator, place, pad);
  }
  if (!good) return;
  EmitPad(builder, pad);
}

void SitePlacer::Place(const Provider &provider, const Event &event, const Site &site) {
  std::vector<Function *> functions = Functions(provider, event, site);
  if (functions.empty() || !CheckFields(provider, event, site)) return;
  for (Function *function : functions) {
    if (!MayBeProbed(provider, event, site, *function)) continue;
    PlaceSet found = FindPlaces(*function, site, reporter_);
    if (found.places.empty()) {
      const DISubprogram *debug = function->getSubprogram();
      reporter_.AtYaml(provider, Or(found.position, site.position),
                       site.optional ? Severity::kWarning : Severity::kError,
                       EventText(event) + found.problem);
      reporter_.AtSource(debug->getFile(), debug->getLine(), 0, Severity::kNote,
                         "'" + debug->getName().str() + "' is here");
      continue;
    }
    FunctionScope scope(*function);
    for (const struct Place &place : found.places) Insert(provider, event, site, scope, place);
  }
}

}  // namespace gkhi
