// SPDX-License-Identifier: MIT
// Finds the places in a function that a `site:` names.
#ifndef GKHI_CLANG_PLUGIN_PLACES_HPP
#define GKHI_CLANG_PLUGIN_PLACES_HPP

#include <gkhi/abi.h>

#include <string>
#include <vector>

#include "config.hpp"
#include "expression.hpp"
#include "report.hpp"

namespace gkhi {

// Kinds of gkhi/abi.h that the pass writes.
enum SiteKind : unsigned {
  kEntry = GKHI_SITE_ENTRY,
  kReturn = GKHI_SITE_RETURN,
  kBeforeCall = GKHI_SITE_BEFORE_CALL,
  kAfterCall = GKHI_SITE_AFTER_CALL,
  kLine = GKHI_SITE_LINE,
};

struct PlaceSet {
  std::vector<Place> places;
  // Why there is none, for the YAML, and where in the YAML.
  std::string problem;
  Position position;
};

PlaceSet FindPlaces(llvm::Function &function, const Site &site, const Reporter &reporter);

// Behind the stores of the parameters: from here on all of them have their values.
Place EntryPlace(llvm::Function &function);

// Whether a function is the one that a site names: by its name, its linkage name, its qualified name, with
// or without template arguments.
bool IsNamed(const llvm::Function &function, llvm::StringRef name);

// Whether a path ends in the wanted one, at a directory boundary.
bool PathEndsIn(llvm::StringRef path, llvm::StringRef wanted);

}  // namespace gkhi

#endif
