// SPDX-License-Identifier: MIT
// The smallest user of the installed library: counts the events of a trace, by name.
#include <gkhi/reader/trace.hpp>

#include <cstdio>
#include <map>
#include <string>

int main(int argc, char **argv) {
  auto set = gkhi::reader::TraceSet::Open(argc > 1 ? argv[1] : "gkhi.trace");
  if (!set) {
    std::fprintf(stderr, "%s\n", set.error().c_str());
    return 1;
  }
  gkhi::reader::Merger merger(*set);
  gkhi::reader::MergedRecord merged;
  std::map<std::string, unsigned long> counts;
  while (merger.Next(&merged)) counts[merged.record->event->full_name]++;
  for (const auto &[name, count] : counts) std::printf("%s %lu\n", name.c_str(), count);
  return merger.loss().any() ? 3 : 0;
}
