// SPDX-License-Identifier: MIT
// Takes over the pads that GKHI_PAD wrote in the source: the record learns its function, a bare pad no longer
// clobbers the flags, and the inliner and the optimizer see what a pad really costs.
#ifndef GKHI_CLANG_PLUGIN_MARKED_HPP
#define GKHI_CLANG_PLUGIN_MARKED_HPP

#include "llvm/IR/Module.h"

namespace gkhi {

// Returns the number of pads taken over.
unsigned TakeOverMarked(llvm::Module &module);

}  // namespace gkhi

#endif
