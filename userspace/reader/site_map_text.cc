// SPDX-License-Identifier: MIT
// The map as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <gkhi/reader/printable.hpp>
#include <gkhi/reader/site_map.hpp>
#include <map>
#include <nlohmann/json.hpp>

namespace gkhi::reader {
namespace {

const char *KindName(ElfKind kind) {
  switch (kind) {
    case ElfKind::kRelocatable:
      return "relocatable";
    case ElfKind::kExecutable:
      return "executable";
    case ElfKind::kShared:
      return "shared library";
  }
  return "";
}

const char *SiteKindName(unsigned kind) {
  constexpr const char *kNames[] = {"marked", "entry", "return", "before_call", "after_call", "line"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

const char *BytesName(PadBytes bytes) {
  switch (bytes) {
    case PadBytes::kNop:
      return "nop";
    case PadBytes::kJump:
      return "jump";
    case PadBytes::kOther:
      return "other";
    case PadBytes::kUnknown:
      return "unknown";
    case PadBytes::kNone:
      return "none";
  }
  return "";
}

// What a hostile file puts into a string must not reach the terminal.
std::string Clean(std::string_view text) {
  std::string out;
  for (size_t i = 0, length; i < text.size(); i += std::max<size_t>(length, 1)) {
    length = text[i] == ' ' ? 0 : ShownLength(text.substr(i));
    out += length == 0 ? std::string_view("?") : text.substr(i, length);
  }
  return out.empty() ? "-" : out;
}

std::string AddressText(const SiteMap &map, const Site &site) {
  return map.kind == ElfKind::kRelocatable ? fmt::format("{}+{:#x}", Clean(site.section), site.address)
                                           : fmt::format("{:016x}", site.address);
}

// foo.constprop.0, foo.isra.0, foo.cold, foo.llvm.123: still foo.
std::string_view WithoutClone(std::string_view name) {
  return name.substr(0, name.find('.', 1));
}

std::string Mark(const Site &site) {
  std::string mark(1, KindLetter(site));
  if (site.bytes == PadBytes::kJump) mark += '*';
  if (site.bytes == PadBytes::kOther) mark += '!';
  if (site.bytes == PadBytes::kNone) mark += '-';
  if (site.misaligned) mark += '~';
  return mark;
}

}  // namespace

std::string SiteMapText(const SiteMap &map) {
  std::map<std::string, std::map<uint64_t, size_t>> events;
  for (const Site &site : map.sites) events[site.event][site.layout]++;
  std::string out = fmt::format("# gkhi map 1\n# file: {}  ({})\n# build-id: {}\n", PrintableLine(map.path),
                                KindName(map.kind), map.build_id.empty() ? "none" : map.build_id);
  if (map.bias != 0) out += fmt::format("# loaded at: {:#x}\n", map.bias);
  out += fmt::format("# sites: {}  events: {}\n", map.sites.size(), events.size());
  for (const auto &[event, layouts] : events)
    for (const auto &[layout, count] : layouts)
      out += fmt::format("# event {} layout {:#018x} sites {}\n", Clean(event), layout, count);
  for (const Site &site : map.sites) {
    out += fmt::format("{} {} {} ", AddressText(map, site), Mark(site), Clean(site.event));
    out +=
        site.container.empty() ? "-" : fmt::format("{}+{:#x}", Clean(site.container), site.container_offset);
    out += fmt::format(" {}:{}", Clean(site.file), site.line);
    if (!site.function.empty() && site.function != WithoutClone(site.container))
      out += " src=" + Clean(site.function);
    for (const SiteArgument &argument : site.arguments)
      out += fmt::format(" {}:{}{}@{}", Clean(argument.name), argument.type, argument.size,
                         Clean(argument.location));
    out += '\n';
  }
  return out;
}

std::string SiteMapJson(const std::vector<SiteMap> &maps) {
  using Json = nlohmann::ordered_json;
  Json files = Json::array();
  for (const SiteMap &map : maps) {
    Json sites = Json::array();
    for (const Site &site : map.sites) {
      Json arguments = Json::array();
      for (const SiteArgument &argument : site.arguments)
        arguments.push_back({{"name", argument.name},
                             {"type", std::string(1, argument.type)},
                             {"size", argument.size},
                             {"location", argument.location}});
      sites.push_back({{"address", site.address},
                       {"section", site.section},
                       {"file_offset", site.file_offset},
                       {"kind", SiteKindName(site.kind)},
                       {"bare", site.bare},
                       {"origin", site.origin == 0 ? "macro" : "pass"},
                       {"event", site.event},
                       {"layout", fmt::format("{:#018x}", site.layout)},
                       {"container", site.container},
                       {"container_offset", site.container_offset},
                       {"function", site.function},
                       {"file", site.file},
                       {"line", site.line},
                       {"pad", BytesName(site.bytes)},
                       {"aligned", !site.misaligned},
                       {"args", arguments}});
    }
    files.push_back({{"path", map.path},
                     {"kind", KindName(map.kind)},
                     {"build_id", map.build_id},
                     {"bias", map.bias},
                     {"sites", sites}});
  }
  // A name that is no UTF-8 is shown with replacement characters.
  return PrintableJson(Json{{"maps", files}}.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace gkhi::reader
