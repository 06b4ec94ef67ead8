// SPDX-License-Identifier: MIT
// gkhi map: where the marker pads of a file or of a process are.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <gkhi/reader/site_map.hpp>
#include <optional>

#include "command.hpp"
#include "declared_events.hpp"

namespace gkhi::cli {
namespace {

using reader::ProbeFormat;
using reader::SiteMap;

std::optional<ProbeFormat> FormatOf(const std::string &name) {
  if (name == "tracefs") return ProbeFormat::kTracefs;
  if (name == "bpftrace") return ProbeFormat::kBpftrace;
  if (name == "perf") return ProbeFormat::kPerf;
  return std::nullopt;
}

Result<std::vector<SiteMap>> Load(const Args &args) {
  std::vector<SiteMap> maps;
  if (const auto text = args.Get("pid")) {
    pid_t pid = 0;
    const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), pid);
    if (code != std::errc() || *end != '\0' || pid <= 0)
      return Error{fmt::format("--pid: found '{}', wanted the number of a process", *text)};
    return reader::ReadProcessSiteMaps(pid);
  }
  for (const std::string &path : args.operands()) {
    Result<SiteMap> map = reader::ReadSiteMap(path);
    if (!map) return Error{map.error()};
    maps.push_back(std::move(*map));
  }
  return maps;
}

int Check(const std::vector<SiteMap> &maps, const std::vector<std::string> &lists) {
  std::vector<std::string> wanted;
  for (const std::string &list : lists) {
    Result<std::vector<std::string>> names = DeclaredEvents(list);
    if (!names) return Fail("map", names.error());
    wanted.insert(wanted.end(), names->begin(), names->end());
  }
  const std::vector<std::string> problems = reader::CheckSites(maps, wanted);
  for (const std::string &problem : problems) Fail("map", problem);
  return problems.empty() ? kExitOk : kExitFailure;
}

int Print(const Args &args, const std::vector<SiteMap> &maps) {
  std::string out;
  const auto name = args.Get("format");
  if (args.Has("json")) {
    out = reader::SiteMapJson(maps);
  } else {
    for (const SiteMap &map : maps)
      out += name ? reader::ProbeText(map, *FormatOf(*name)) : reader::SiteMapText(map);
  }
  if (fwrite(out.data(), 1, out.size(), stdout) != out.size() || fflush(stdout) != 0)
    return Fail("map", "cannot write");
  return kExitOk;
}

int Run(const Args &args) {
  if (args.operands().empty() != args.Has("pid")) {
    fmt::print(stderr, "gkhi map: wanted either files or --pid\n");
    return kExitUsage;
  }
  const auto format = args.Get("format");
  if (format && !FormatOf(*format)) {
    fmt::print(stderr, "gkhi map: --format: found '{}', wanted tracefs, bpftrace or perf\n", *format);
    return kExitUsage;
  }
  Result<std::vector<SiteMap>> maps = Load(args);
  if (!maps) return Fail("map", maps.error());
  if (args.Has("check")) return Check(*maps, args.All("check"));
  return Print(args, *maps);
}

}  // namespace

const Command &MapCommand() {
  static const Command command = {
      "map",
      "where the marker pads are: of a file, or of a process",
      "[FILE]...",
      "Prints the map of ELF files: objects, kernel modules (also .xz and .zst), programs and libraries, "
      "stripped\n"
      "or not. It needs no debug information. One line a pad, as System.map has one a symbol:\n\n"
      "  ADDRESS KIND EVENT FUNCTION+OFFSET FILE:LINE NAME:TYPE@LOCATION...\n\n"
      "KIND: M marked in the source, and of the clang pass E entry, R return, B before and A after a call, L "
      "line;\n"
      "lower case: the pad is in a cold block. '*' behind it: armed now; '!': somebody else has patched it.\n"
      "With --pid the addresses are those in the process, and what stands at the pads is what stands there "
      "now.",
      {
          {'p', "pid", "PID", "the objects that a process has loaded, where they are", "<pid>"},
          {'j', "json", nullptr, "everything, as JSON"},
          {'c', "check", "EVENTS",
           "print nothing, fail when an event has no site: a YAML file, or names with commas", "<file>"},
          {'f', "format", "TOOL", "ready probes for another tool: tracefs, bpftrace or perf",
           "tracefs bpftrace perf"},
      },
      {
          {"gkhi map build/demo", "the pads of a program"},
          {"gkhi map -p $(pidof redis-server)", "of a running one"},
          {"gkhi map --check zlib.yaml libz.so.1",
           "in a makefile, behind the link: every declared event has a site"},
          {"gkhi map -f bpftrace libz.so.1 > z.bt", "the same places for bpftrace"},
      },
      Run,
      false,
      "<file>",
  };
  return command;
}

}  // namespace gkhi::cli
