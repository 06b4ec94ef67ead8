// SPDX-License-Identifier: MIT
// USDT: sys/sdt.h's one-byte nop, alone and with a kernel uprobe on it. BENCH_UPROBE says "on", or why not.
#include <cstdlib>
#include <string>

#include "variant.hpp"

#ifdef GKHI_BENCH_SDT
#include <sys/sdt.h>
#endif

namespace gkhi::bench {
namespace {

#ifdef GKHI_BENCH_SDT
__attribute__((noinline)) void UsdtIdle(void *, long n) {
  for (long i = 0; i < n; ++i) DTRACE_PROBE2(gkhi_bench, pair_idle, i, n);
}

__attribute__((noinline)) void UsdtProbed(void *, long n) {
  for (long i = 0; i < n; ++i) DTRACE_PROBE2(gkhi_bench, pair_probed, i, n);
}
#endif

}  // namespace

void AddUsdt(std::vector<Variant> &out) {
#ifdef GKHI_BENCH_SDT
  const char *uprobe = std::getenv("BENCH_UPROBE");
  std::string why;
  if (uprobe == nullptr) {
    why = "no uprobe (tests/bench/run.sh puts one)";
  } else if (std::string(uprobe) != "on") {
    why = uprobe;
  }
  out.push_back({.name = "usdt", .run = UsdtIdle, .skip = {}});
  out.push_back({.name = "usdt_uprobe", .run = UsdtProbed, .slice = 100, .skip = why});
#else
  for (const char *name : {"usdt", "usdt_uprobe"})
    out.push_back({.name = name, .skip = "built without systemtap-sdt-dev"});
#endif
}

}  // namespace gkhi::bench
