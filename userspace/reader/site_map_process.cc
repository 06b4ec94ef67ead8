// SPDX-License-Identifier: MIT
// The maps of all objects that a process has loaded, where they are now.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <gkhi/reader/site_map.hpp>
#include <map>
#include <sstream>

#include "elf_image.hpp"

namespace gkhi::reader {
namespace {

struct Mapping {
  uint64_t start = 0, end = 0, offset = 0;
  std::string range;  // as /proc/PID/map_files names it
  std::string path;
};

// "start-end perms offset dev inode path"; only files that are mapped executable.
std::optional<Mapping> ParseMapping(const std::string &line) {
  Mapping mapping;
  std::istringstream words(line);
  std::string permissions, device;
  uint64_t inode = 0;
  if (!(words >> mapping.range >> permissions >> std::hex >> mapping.offset >> device >> std::dec >> inode))
    return std::nullopt;
  if (inode == 0 || permissions.size() < 3 || permissions[2] != 'x') return std::nullopt;
  std::getline(words >> std::ws, mapping.path);
  if (std::sscanf(mapping.range.c_str(), "%lx-%lx", &mapping.start, &mapping.end) != 2) return std::nullopt;
  return mapping;
}

// The mapped file itself, even when its name is gone or means another file by now.
std::optional<std::string> ReadMapped(pid_t pid, const Mapping &mapping) {
  for (const std::string &path : {fmt::format("/proc/{}/map_files/{}", pid, mapping.range),
                                  fmt::format("/proc/{}/root{}", pid, mapping.path)}) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    if (file && bytes << file.rdbuf()) return bytes.str();
  }
  return std::nullopt;
}

// Which link-time address the first byte of the mapping has.
std::optional<uint64_t> AddressOf(const ElfImage &elf, uint64_t offset) {
  constexpr uint64_t kPage = 4096;
  for (const ElfSegment &segment : elf.segments())
    if (segment.is_code && offset >= segment.offset / kPage * kPage &&
        offset < segment.offset + segment.file_size)
      return segment.address - segment.offset + offset;
  return std::nullopt;
}

void ReadPads(int memory, SiteMap *map) {
  for (Site &site : map->sites) {
    char bytes[5];
    if (site.bytes == PadBytes::kNone) continue;
    site.bytes = PadBytes::kUnknown;
    if (pread(memory, bytes, sizeof(bytes), static_cast<off_t>(site.address)) != sizeof(bytes)) continue;
    site.bytes = std::memcmp(bytes, "\x0f\x1f\x44\x00\x00", 5) == 0 ? PadBytes::kNop
                 : bytes[0] == '\xe9'                               ? PadBytes::kJump
                                                                    : PadBytes::kOther;
  }
}

}  // namespace

Result<std::vector<SiteMap>> ReadProcessSiteMaps(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/maps", pid));
  std::string line;
  if (!file || !std::getline(file, line))
    return Error{fmt::format("process {}: {}", pid,
                             kill(pid, 0) == 0 || errno == EPERM ? "not ours to read" : "there is none")};
  std::vector<SiteMap> maps;
  std::map<std::string, bool> seen;
  const int memory = open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC);
  do {
    const auto mapping = ParseMapping(line);
    if (!mapping || !seen.emplace(mapping->path, true).second) continue;
    const auto image = ReadMapped(pid, *mapping);
    if (!image) continue;
    Result<SiteMap> map = ReadSiteMapFromImage(*image, mapping->path);
    Result<ElfImage> elf = ElfImage::Open(*image, mapping->path);
    if (!map || !elf || map->sites.empty()) continue;
    const auto address = AddressOf(*elf, mapping->offset);
    if (!address) continue;
    map->bias = mapping->start - *address;
    for (Site &site : map->sites) site.address += map->bias;
    if (memory >= 0) ReadPads(memory, &*map);
    maps.push_back(std::move(*map));
  } while (std::getline(file, line));
  if (memory >= 0) close(memory);
  return maps;
}

}  // namespace gkhi::reader
