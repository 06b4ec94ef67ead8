// SPDX-License-Identifier: MIT
// The inline functions and templates of work.hpp once more: COMDAT groups with hooks inside.
#include "work.hpp"

extern "C" uint64_t sites_work_cxx2(uint64_t seed) {
  uint64_t count = seed;
  {
    Guard guard(&count);
    seed += InlineTwice(seed) + guard.Method(1);
  }
  return seed + Scale<uint64_t>(seed, 5) + static_cast<uint64_t>(Scale<int>(6, 7)) + count + sites_shared(9);
}
