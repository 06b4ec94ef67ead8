// SPDX-License-Identifier: MIT
// LTTng-UST, when it is built in and run.sh has a session for it: BENCH_LTTNG says "on", or why not.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "sink.hpp"
#include "variant.hpp"

#ifdef GKHI_BENCH_LTTNG
#include "lttng_sites.h"
#endif

namespace gkhi::bench {
namespace {

std::string WhyNot() {
#ifdef GKHI_BENCH_LTTNG
  const char *state = std::getenv("BENCH_LTTNG");
  if (state == nullptr) return "no LTTng session (tests/bench/run.sh makes one)";
  if (std::string(state) != "on") return state;
  for (int tries = 0; tries < 500; ++tries) {  // the session daemon tells the process in its own time
    if (BenchLttngEnabled() != 0) return {};
    usleep(10000);
  }
  return "the LTTng session did not reach the process in 5 s";
#else
  return "built without liblttng-ust-dev";
#endif
}

}  // namespace

void AddLttng(std::vector<Variant> &out) {
  const std::string why = WhyNot();
#ifdef GKHI_BENCH_LTTNG
  static char text[sizeof kText];
  std::copy(std::begin(kText), std::end(kText), std::begin(text));
  out.push_back({.name = "lttng_overwrite", .run = BenchLttngOverwrite, .slice = 500, .skip = why});
  out.push_back({.name = "lttng_discard", .run = BenchLttngDiscard, .slice = 500, .skip = why});
  out.push_back(
      {.name = "lttng_string", .run = BenchLttngText, .slice = 500, .state = {text, text}, .skip = why});
#else
  for (const char *name : {"lttng_overwrite", "lttng_discard", "lttng_string"})
    out.push_back({.name = name, .skip = why});
#endif
}

}  // namespace gkhi::bench
