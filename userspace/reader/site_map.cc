// SPDX-License-Identifier: MIT
// Reads the map of an ELF file.
#include <fmt/format.h>
#include <gkhi/abi.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gkhi/reader/site_map.hpp>
#include <sstream>

#include "elf_image.hpp"

namespace gkhi::reader {
namespace {

constexpr std::string_view kNop5("\x0f\x1f\x44\x00\x00", 5);

// Reads a record piece by piece; every string must end inside of it.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : bytes_(bytes) {}

  bool String(std::string *text) {
    const size_t end = bytes_.find('\0', at_);
    if (end == bytes_.npos) return false;
    *text = std::string(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return true;
  }

  bool Byte(unsigned *value) {
    if (at_ >= bytes_.size()) return false;
    *value = static_cast<unsigned char>(bytes_[at_++]);
    return true;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

bool ReadArguments(RecordReader *reader, unsigned count, Site *site) {
  for (unsigned i = 0; i < count; i++) {
    SiteArgument argument;
    unsigned type = 0;
    if (!reader->Byte(&type) || !reader->Byte(&argument.size) || !reader->String(&argument.name) ||
        !reader->String(&argument.location))
      return false;
    argument.type = static_cast<char>(type);
    if (std::strchr("uspfcb", argument.type) == nullptr || type == 0) return false;
    site->arguments.push_back(std::move(argument));
  }
  return true;
}

bool ReadBody(std::string_view bytes, const gkhi_record &head, Site *site) {
  RecordReader reader(bytes.substr(sizeof(head)));
  site->line = head.line;
  site->kind = head.kind;
  site->origin = head.origin;
  site->bare = (head.flags & GKHI_RECORD_BARE) != 0;
  if (head.padlen == 0) site->bytes = PadBytes::kNone;
  site->layout = static_cast<uint64_t>(head.layout_hi) << 32 | head.layout_lo;
  return reader.String(&site->event) && reader.String(&site->function) && reader.String(&site->file) &&
         ReadArguments(&reader, head.nargs, site);
}

PadBytes BytesAt(std::string_view text, uint64_t offset) {
  if (offset > text.size() || text.size() - offset < kNop5.size()) return PadBytes::kUnknown;
  const std::string_view pad = text.substr(offset, kNop5.size());
  if (pad == kNop5) return PadBytes::kNop;
  return pad[0] == '\xe9' ? PadBytes::kJump : PadBytes::kOther;
}

class MapReader {
 public:
  MapReader(const ElfImage &elf, SiteMap *map) : elf_(elf), map_(map) {}

  // An error text, or "".
  std::string ReadSection(size_t index) {
    const ElfSection &section = elf_.sections()[index];
    const bool relocatable = elf_.type() == ET_REL;
    if (relocatable) relocations_ = elf_.Relocations(index);
    const std::string_view bytes = section.bytes;
    for (size_t at = 0; at + sizeof(gkhi_record) <= bytes.size();) {
      gkhi_record head;
      std::memcpy(&head, bytes.data() + at, sizeof(head));
      if (head.magic != GKHI_RECORD_MAGIC) {  // what a linker left between two
        at += 4;
        continue;
      }
      if (head.version != GKHI_RECORD_VERSION)
        return fmt::format("record at gkhi_sites+{:#x}: found version {}, wanted {}", at, head.version,
                           GKHI_RECORD_VERSION);
      if (head.size < sizeof(head) || head.size > bytes.size() - at || head.size % 4 != 0)
        return fmt::format("record at gkhi_sites+{:#x}: its size {} is wrong", at, head.size);
      Site site;
      if (!ReadBody(bytes.substr(at, head.size), head, &site))
        return fmt::format("record at gkhi_sites+{:#x}: it ends inside of an argument", at);
      const uint64_t field = at + offsetof(gkhi_record, pad);
      const bool placed =
          relocatable
              ? PlaceInSection(field, &site)
              : Place(section.header.sh_addr + field + static_cast<uint64_t>(int64_t{head.pad}), &site);
      if (!placed) return fmt::format("record at gkhi_sites+{:#x}: its pad is outside of the code", at);
      map_->sites.push_back(std::move(site));
      at += head.size;
    }
    return "";
  }

 private:
  bool PlaceInSection(uint64_t field, Site *site) {
    const auto target = relocations_.find(field);
    if (target == relocations_.end() || target->second.section >= elf_.sections().size()) return false;
    Describe(target->second.section, target->second.offset, target->second.offset, site);
    return true;
  }

  bool Place(uint64_t address, Site *site) {
    const auto section = elf_.SectionAt(address);
    if (!section) return false;
    Describe(*section, address, address - elf_.sections()[*section].header.sh_addr, site);
    site->file_offset = elf_.FileOffset(address).value_or(0);
    return true;
  }

  void Describe(size_t index, uint64_t address, uint64_t offset, Site *site) {
    const ElfSection &section = elf_.sections()[index];
    site->address = address;
    site->section = section.name;
    if (site->bytes != PadBytes::kNone) {
      site->bytes = BytesAt(section.bytes, offset);
      site->misaligned = (address & 7) > 8 - GKHI_PAD_LEN;
    }
    if (const ElfFunction *function = elf_.FunctionAt(index, address)) {
      site->container = std::string(function->name);
      site->container_offset = address - function->start;
    }
  }

  const ElfImage &elf_;
  SiteMap *map_;
  std::map<uint64_t, ElfTarget> relocations_;
};

}  // namespace

Result<SiteMap> ReadSiteMapFromImage(std::string image, const std::string &path) {
  Result<std::string> plain = Decompress(std::move(image), path);
  if (!plain) return Error{plain.error()};
  Result<ElfImage> elf = ElfImage::Open(std::move(*plain), path);
  if (!elf) return Error{elf.error()};
  SiteMap map;
  map.path = path;
  map.kind = elf->type() == ET_REL                                                 ? ElfKind::kRelocatable
             : elf->type() == ET_EXEC || elf->is_position_independent_executable() ? ElfKind::kExecutable
                                                                                   : ElfKind::kShared;
  map.build_id = elf->BuildId();
  map.has_symbols = elf->has_symbols();
  MapReader reader(*elf, &map);
  for (size_t i = 0; i < elf->sections().size(); i++) {
    const ElfSection &section = elf->sections()[i];
    if (section.name == "gkhi_site_config") map.has_unplaced = true;
    if (section.name != "gkhi_sites" || section.header.sh_type != SHT_PROGBITS) continue;
    const std::string problem = reader.ReadSection(i);
    if (!problem.empty()) return Error{fmt::format("{}: {}", path, problem)};
  }
  std::stable_sort(map.sites.begin(), map.sites.end(), [](const Site &a, const Site &b) {
    return std::tie(a.section, a.address) < std::tie(b.section, b.address);
  });
  return map;
}

Result<SiteMap> ReadSiteMap(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (file.bad() || bytes.str().empty()) return Error{fmt::format("{}: cannot be read, or is empty", path)};
  return ReadSiteMapFromImage(bytes.str(), path);
}

char KindLetter(const Site &site) {
  constexpr std::string_view kLetters = "MERBAL";
  const char letter = site.kind < kLetters.size() ? kLetters[site.kind] : '?';
  return site.bare ? letter : static_cast<char>(letter | 0x20);
}

std::vector<std::string> CheckSites(const std::vector<SiteMap> &maps,
                                    const std::vector<std::string> &wanted) {
  std::vector<std::string> problems;
  std::map<std::string, std::pair<uint64_t, std::string>> seen;
  for (const SiteMap &map : maps) {
    if (map.has_unplaced)
      problems.push_back(
          fmt::format("{}: a sites header was compiled without the gkhi pass: use gkhi-cc", map.path));
    for (const Site &site : map.sites) {
      const std::string where = fmt::format("{}:{}", site.file, site.line);
      const auto [it, added] = seen.try_emplace(site.event, site.layout, where);
      if (!added && it->second.first != site.layout)
        problems.push_back(
            fmt::format("event '{}' has layout {:#x} at {} and {:#x} at {}: built from different YAML",
                        site.event, it->second.first, it->second.second, site.layout, where));
    }
  }
  for (const std::string &event : wanted)
    if (!seen.count(event)) problems.push_back(fmt::format("event '{}' has no site", event));
  return problems;
}

}  // namespace gkhi::reader
