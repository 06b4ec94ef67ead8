// SPDX-License-Identifier: MIT
// What all variants record, and where those that write files put them.
#pragma once

#include <string>

namespace gkhi::bench {

inline constexpr char kText[16] = "fifteen letters";

// A folder of this run alone, made by run.sh: BENCH_DIR, else /tmp.
std::string WorkFile(const char *name);

}  // namespace gkhi::bench
