// SPDX-License-Identifier: MIT
// Inline functions, templates and classes with hooks, instantiated in two objects.
#ifndef SITES_WORK_HPP_
#define SITES_WORK_HPP_

#include <stdexcept>
#include <string>

#include "sites_inline.h"

inline uint64_t InlineTwice(uint64_t x) {
  gkhi_sites_num(x, 20);
  return x + 2;
}

template <typename T>
__attribute__((noinline)) T Scale(T value, int by) {
  gkhi_sites_num(static_cast<uint64_t>(value), by);
  return static_cast<T>(value * by);
}

class Guard {
 public:
  explicit Guard(uint64_t *count) : count_(count) { gkhi_sites_num(30, static_cast<int64_t>(*count)); }
  ~Guard() {
    ++*count_;
    gkhi_sites_num(31, static_cast<int64_t>(*count_));
  }
  uint64_t Method(uint64_t x) {
    gkhi_sites_num(x, static_cast<int64_t>(*count_));
    return x + *count_;
  }

 private:
  uint64_t *count_;
};

#endif  // SITES_WORK_HPP_
