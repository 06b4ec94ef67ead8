// SPDX-License-Identifier: MIT
// What genevent hands to the pass: events, their fields and their sites, as JSON in a constant of the
// translation unit (docs/format-map.md, "The sites header").
#ifndef GKHI_CLANG_PLUGIN_CONFIG_HPP
#define GKHI_CLANG_PLUGIN_CONFIG_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"

namespace gkhi {

// A place in the provider's YAML file; line 0 = unknown.
struct Position {
  unsigned line = 0;
  unsigned column = 0;
};

struct Field {
  std::string name;
  std::string declared;  // as spelled in the YAML: "u32", "string", "enum link"
  char type = 'u';       // enum gkhi_type
  unsigned size = 0;     // bytes of one element
  unsigned form = 0;     // enum gkhi_form
  unsigned max = 0;      // elements at most
};

struct SiteArgument {
  std::string field;
  std::string expression;
  Position position;
};

struct Site {
  std::string file;
  std::string function;
  std::string at;
  std::string callee;
  std::string text;
  bool optional = false;
  Position position, file_position, function_position, at_position, callee_position, text_position;
  std::vector<SiteArgument> arguments;
};

struct Event {
  std::string name;    // "provider:event"
  std::string symbol;  // "provider_event": gkhi_hook_<symbol>
  uint32_t layout_lo = 0;
  uint32_t layout_hi = 0;
  unsigned fixed_words = 0;
  std::vector<Field> fields;
  std::vector<Site> sites;
};

struct Provider {
  std::string name;
  std::string yaml;  // path of the YAML file, for diagnostics
  std::vector<Event> events;
};

struct Config {
  std::vector<Provider> providers;
  unsigned stress = 0;       // a marker at every entry and every n-th call
  unsigned strip_debug = 0;  // what only the pass wanted of -g: 1 = all, 2 = all but line tables
};

// Reads every constant in section gkhi_site_config and takes it out of the module. A constant that cannot
// be read is reported to the context as an error. Returns whether the module was changed.
bool TakeConfig(llvm::Module &module, Config &config);

}  // namespace gkhi

#endif
