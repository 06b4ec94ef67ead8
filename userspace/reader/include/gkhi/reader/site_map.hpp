// SPDX-License-Identifier: MIT
// The map of an ELF file: every marker pad in it, read from section gkhi_sites alone (docs/format-map.md). No
// debug information is needed; symbols, if there are any, say which function contains a pad.
#ifndef GKHI_READER_SITE_MAP_HPP
#define GKHI_READER_SITE_MAP_HPP

#include <sys/types.h>

#include <cstdint>
#include <gkhi/reader/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gkhi::reader {

struct SiteArgument {
  std::string name;
  char type = 'u';  // as in gkhi/abi.h
  unsigned size = 0;
  std::string location;
};

// What stands at a pad.
enum class PadBytes {
  kNop,
  kJump,     // armed by gkhi
  kOther,    // neither: somebody else's patch, or a damaged file
  kUnknown,  // not readable
  kNone,     // there is no pad: the site loads its hook's mode
};

struct Site {
  uint64_t address = 0;      // of the pad: virtual, or an offset in `section` of a relocatable file
  uint64_t file_offset = 0;  // of the pad, for uprobes; 0 in relocatable files
  std::string section;
  std::string event;
  std::string function;   // in the source, "" if the macro could not know it
  std::string container;  // symbol that contains the pad, "" without symbols
  uint64_t container_offset = 0;
  std::string file;
  unsigned line = 0;
  unsigned kind = 0;    // enum gkhi_site_kind
  unsigned origin = 0;  // enum gkhi_site_origin
  bool bare = false;
  bool misaligned = false;  // the pad crosses 8 bytes: it cannot be switched by one store
  uint64_t layout = 0;
  PadBytes bytes = PadBytes::kUnknown;
  std::vector<SiteArgument> arguments;
};

enum class ElfKind { kRelocatable, kExecutable, kShared };

struct SiteMap {
  std::string path;
  ElfKind kind = ElfKind::kExecutable;
  std::string build_id;  // hex digits, "" if there is none
  bool has_symbols = false;
  bool has_unplaced = false;  // a sites header was compiled without the pass
  uint64_t bias = 0;          // added to every address: where a process has loaded the object
  std::vector<Site> sites;    // by address
};

// A file, also one compressed with xz or zstd. No gkhi_sites section: an empty list.
Result<SiteMap> ReadSiteMap(const std::string &path);

// The same for a file's bytes; `path` is only a name.
Result<SiteMap> ReadSiteMapFromImage(std::string image, const std::string &path);

// Every object that a process has mapped and that has sites, at the addresses where they are now, with what
// stands at the pads now.
Result<std::vector<SiteMap>> ReadProcessSiteMaps(pid_t pid);

// 'M' marked, 'E' entry, 'R' return, 'B' before_call, 'A' after_call, 'L' line; lower case when the pad is
// cold.
char KindLetter(const Site &site);

// System.map-like text with a head of comments; JSON.
std::string SiteMapText(const SiteMap &map);
std::string SiteMapJson(const std::vector<SiteMap> &maps);

enum class ProbeFormat { kTracefs, kBpftrace, kPerf };

// Ready probe definitions, one per site. What a prober cannot read is left out, and a comment says so.
std::string ProbeText(const SiteMap &map, ProbeFormat format);

// The events among `wanted` that have no site, and what else is wrong: sites of one event that disagree about
// its layout. Empty: all is well.
std::vector<std::string> CheckSites(const std::vector<SiteMap> &maps, const std::vector<std::string> &wanted);

}  // namespace gkhi::reader

#endif
