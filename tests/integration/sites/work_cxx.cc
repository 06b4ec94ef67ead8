// SPDX-License-Identifier: MIT
// Hooks in C++: templates, destructors, exceptions, lambdas, methods.
#include "work.hpp"

namespace {

__attribute__((noinline)) uint64_t Throws(uint64_t x) {
  uint64_t count = x;
  try {
    Guard outer(&count);
    gkhi_sites_none();
    if (x & 1) {
      Guard inner(&count);
      gkhi_sites_num(40, static_cast<int64_t>(x));
      throw std::runtime_error("odd");
    }
    gkhi_sites_num(41, static_cast<int64_t>(x));
    return outer.Method(x);
  } catch (const std::exception &e) {
    gkhi_sites_mixed(42, 43, true, -44, e.what(), reinterpret_cast<const uint8_t *>("\1\2\3\4"));
    return count;
  }
}

__attribute__((noinline)) uint64_t Lambda(uint64_t x) {
  const auto twice = [x](uint64_t y) {
    gkhi_sites_num(x, static_cast<int64_t>(y));
    return x * y;
  };
  return twice(2) + twice(3);
}

}  // namespace

extern "C" uint64_t sites_work_cxx(uint64_t seed) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 3; i++) sum += Throws(i) + Lambda(seed + i) + InlineTwice(i);
  sum += static_cast<uint64_t>(Scale<int>(5, 3)) + static_cast<uint64_t>(Scale<double>(2.5, 4)) +
         Scale<uint64_t>(seed, 2);
  return sum;
}
