// SPDX-License-Identifier: MIT
// gkhi-bench: measures every variant side by side and writes the raw figures as JSON; report.py makes the
// table of them.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runner.hpp"
#include "variant.hpp"

int main(int argc, char **argv) {
  using namespace gkhi::bench;
  CLI::App app{"Benchmark of gkhi's user-space hooks beside others, in one run"};
  Options options;
  std::string output = "-";
  std::vector<std::string> only;
  bool list = false;
  app.add_option("--passes", options.passes, "passes; each gives one figure")->capture_default_str();
  app.add_option("--rounds", options.rounds, "hot slices per pass")->capture_default_str();
  app.add_option("--cold-rounds", options.cold_rounds, "cold events per pass")->capture_default_str();
  app.add_option("--only", only, "variants to run (default: all)");
  app.add_flag("--list", list, "print the variants and why some are skipped");
  app.add_option("-o,--output", output, "file to write, - for standard output")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::vector<Variant> variants;
  AddFloors(variants);
  AddHooks(variants);
  AddPrinted(variants);
  AddLttng(variants);
  AddUsdt(variants);
  if (!only.empty()) {
    std::erase_if(variants, [&](const Variant &v) {
      return std::find(only.begin(), only.end(), v.name) == only.end();
    });
    if (variants.size() != only.size()) {
      std::cerr << "gkhi-bench: --only names an unknown variant; --list shows them\n";
      return 2;
    }
  }
  if (list) {
    for (const auto &v : variants)
      std::cout << v.name << (v.skip.empty() ? "" : "\tskipped: " + v.skip) << '\n';
    return 0;
  }

  const double tsc_ghz = MeasureTscGhz();
  cpu_set_t cpus;
  const int n_cpus = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  nlohmann::json out = {
      {"tsc_ghz", tsc_ghz}, {"cpus", n_cpus}, {"passes", options.passes}, {"rounds", options.rounds}};
  out["results"] = nlohmann::json::array();
  out["skipped"] = nlohmann::json::object();
  for (const auto &v : variants) {
    if (!v.skip.empty()) out["skipped"][v.name] = v.skip;
  }
  for (int threads = 1; threads <= std::min(kMaxThreads, n_cpus); ++threads) {
    for (const auto &r : RunAll(variants, threads, tsc_ghz, options)) {
      out["results"].push_back(
          {{"variant", r.variant}, {"threads", r.threads}, {"cache", r.cold ? "cold" : "hot"}, {"ns", r.ns}});
    }
  }
  if (output == "-") {
    std::cout << out.dump(1) << '\n';
    return 0;
  }
  std::ofstream file(output);
  file << out.dump(1) << '\n';
  if (!file.flush()) {
    std::cerr << "gkhi-bench: cannot write " << output << '\n';
    return 1;
  }
  return 0;
}
