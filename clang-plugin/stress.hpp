// SPDX-License-Identifier: MIT
// Stress mode: a marker at every function's entry and at every n-th call, with all that is visible there.
#ifndef GKHI_CLANG_PLUGIN_STRESS_HPP
#define GKHI_CLANG_PLUGIN_STRESS_HPP

#include "config.hpp"
#include "llvm/IR/Module.h"

namespace gkhi {

// The events are those of the configuration whose name ends in a number: a site with n values becomes an
// event of n fields of 8 bytes. Returns the number of sites.
unsigned PlaceEverywhere(llvm::Module &module, const Config &config);

}  // namespace gkhi

#endif
