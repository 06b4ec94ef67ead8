// SPDX-License-Identifier: MIT
// Reads the site configuration out of a module.
#include "config.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/JSON.h"

namespace gkhi {
namespace {

using llvm::StringRef;
namespace json = llvm::json;

constexpr int64_t kConfigVersion = 1;

std::string Text(const json::Object &object, StringRef key) {
  if (auto text = object.getString(key)) return text->str();
  return "";
}

unsigned Number(const json::Object &object, StringRef key) {
  if (auto number = object.getInteger(key)) return static_cast<unsigned>(*number);
  return 0;
}

Position ReadPosition(const json::Object &object, StringRef key) {
  Position position;
  const json::Array *pair = object.getArray(key);
  if (!pair || pair->size() != 2) return position;
  if (auto line = (*pair)[0].getAsInteger()) position.line = static_cast<unsigned>(*line);
  if (auto column = (*pair)[1].getAsInteger()) position.column = static_cast<unsigned>(*column);
  return position;
}

template <typename Function>
void ForEach(const json::Object &object, StringRef key, Function function) {
  if (const json::Array *array = object.getArray(key))
    for (const json::Value &value : *array)
      if (const json::Object *item = value.getAsObject()) function(*item);
}

Field ReadField(const json::Object &object) {
  Field field;
  field.name = Text(object, "name");
  field.declared = Text(object, "declared");
  std::string type = Text(object, "type");
  field.type = type.empty() ? 'u' : type[0];
  field.size = Number(object, "size");
  field.form = Number(object, "form");
  field.max = Number(object, "max");
  return field;
}

Site ReadSite(const json::Object &object) {
  Site site;
  site.file = Text(object, "file");
  site.function = Text(object, "function");
  site.at = Text(object, "at");
  site.callee = Text(object, "callee");
  site.text = Text(object, "text");
  if (auto optional = object.getBoolean("optional")) site.optional = *optional;
  site.position = ReadPosition(object, "pos");
  site.file_position = ReadPosition(object, "file_pos");
  site.function_position = ReadPosition(object, "function_pos");
  site.at_position = ReadPosition(object, "at_pos");
  site.callee_position = ReadPosition(object, "callee_pos");
  site.text_position = ReadPosition(object, "text_pos");
  ForEach(object, "args", [&](const json::Object &arg) {
    site.arguments.push_back({Text(arg, "field"), Text(arg, "expr"), ReadPosition(arg, "pos")});
  });
  return site;
}

Event ReadEvent(const json::Object &object) {
  Event event;
  event.name = Text(object, "event");
  event.symbol = Text(object, "symbol");
  std::string digits = Text(object, "layout");
  uint64_t value = 0;
  if (!StringRef(digits).getAsInteger(0, value)) {
    event.layout_lo = static_cast<uint32_t>(value);
    event.layout_hi = static_cast<uint32_t>(value >> 32);
  }
  event.fixed_words = Number(object, "words");
  ForEach(object, "fields", [&](const json::Object &field) { event.fields.push_back(ReadField(field)); });
  ForEach(object, "sites", [&](const json::Object &site) { event.sites.push_back(ReadSite(site)); });
  return event;
}

// Returns what is wrong with the text, or "".
std::string ReadConfig(StringRef text, Config &config) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) return llvm::toString(value.takeError());
  const json::Object *object = value->getAsObject();
  if (!object) return "not a JSON object";
  auto version = object->getInteger("gkhi_sites");
  if (!version) return "no member gkhi_sites";
  if (*version != kConfigVersion)
    return "format " + std::to_string(*version) + ", this plugin reads format " +
           std::to_string(kConfigVersion) + ": genevent and gkhi-pass are of different releases";
  if (unsigned every = Number(*object, "stress")) config.stress = every;
  if (unsigned strip = Number(*object, "strip_debug")) config.strip_debug = strip;
  if (!object->getString("provider")) return "";
  Provider provider;
  provider.name = Text(*object, "provider");
  provider.yaml = Text(*object, "yaml");
  ForEach(*object, "events", [&](const json::Object &event) { provider.events.push_back(ReadEvent(event)); });
  config.providers.push_back(std::move(provider));
  return "";
}

// llvm.used and llvm.compiler.used keep the constant: take it out of both.
void DropFromUsed(llvm::Module &module, StringRef list_name, const llvm::GlobalVariable *dropped) {
  llvm::GlobalVariable *list = module.getGlobalVariable(list_name);
  if (!list || !list->hasInitializer()) return;
  auto *array = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
  if (!array) return;
  llvm::SmallVector<llvm::Constant *, 8> kept;
  for (llvm::Use &use : array->operands())
    if (use->stripPointerCasts() != dropped) kept.push_back(llvm::cast<llvm::Constant>(use.get()));
  if (kept.size() == array->getNumOperands()) return;
  llvm::Type *element = array->getType()->getElementType();
  list->eraseFromParent();
  if (kept.empty()) return;
  auto *type = llvm::ArrayType::get(element, kept.size());
  auto *fresh = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::AppendingLinkage,
                                         llvm::ConstantArray::get(type, kept), list_name);
  fresh->setSection("llvm.metadata");
}

}  // namespace

bool TakeConfig(llvm::Module &module, Config &config) {
  std::vector<llvm::GlobalVariable *> constants;
  for (llvm::GlobalVariable &global : module.globals())
    if (global.getSection() == "gkhi_site_config" && global.hasInitializer()) constants.push_back(&global);
  for (llvm::GlobalVariable *global : constants) {
    auto *data = llvm::dyn_cast<llvm::ConstantDataSequential>(global->getInitializer());
    std::string problem = "not a string";
    if (data && data->isCString()) problem = ReadConfig(data->getAsCString(), config);
    if (!problem.empty())
      module.getContext().emitError("gkhi: cannot read the site configuration '" + global->getName() +
                                    "': " + problem);
    DropFromUsed(module, "llvm.used", global);
    DropFromUsed(module, "llvm.compiler.used", global);
    global->removeDeadConstantUsers();
    global->eraseFromParent();
  }
  return !constants.empty();
}

}  // namespace gkhi
