// SPDX-License-Identifier: MIT
// The map as probe definitions for other tools: tracefs, bpftrace, perf.
#include <fmt/format.h>

#include <algorithm>
#include <gkhi/reader/printable.hpp>
#include <gkhi/reader/site_map.hpp>
#include <map>
#include <optional>

#include "location.h"

namespace gkhi::reader {
namespace {

// As the kernel's probe language names them; the index is the processor's.
constexpr const char *kRegisters[] = {"ax", "cx", "dx",  "bx",  "sp",  "bp",  "si",  "di",
                                      "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};

std::optional<gkhi_location> Parse(const SiteArgument &argument) {
  const bool pointer = argument.type == 'c' || argument.type == 'b' || argument.type == 'p';
  gkhi_location location;
  if (gkhi_location_parse(argument.location.c_str(), argument.location.size(), pointer ? 8 : argument.size,
                          &location, nullptr) != GKHI_LOCATION_OK)
    return std::nullopt;
  if (location.kind == GKHI_LOCATION_XMM || location.reg >= std::size(kRegisters) || location.reg_shift != 0)
    return std::nullopt;
  return location;
}

// What follows is run by others, as root, and names come from a file that anybody may have made: nothing of
// them that means something to a tool goes through.

bool IsWord(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           others.find(c) != others.npos;
  });
}

bool IsSymbol(std::string_view text) {
  return IsWord(text, ".$");
}

// None of the tools can quote a path everywhere.
bool IsPlainPath(std::string_view text) {
  std::string ascii(text);
  ascii.erase(std::remove_if(ascii.begin(), ascii.end(), [](char c) { return (c & 0x80) != 0; }),
              ascii.end());
  return IsWord(ascii, "./+-,@~") && text[0] != '-' && PrintableLine(text) == text;
}

// Letters, digits and '_': what every tool accepts as a name.
std::string Name(std::string_view text) {
  std::string out;
  for (const char c : text) out += IsWord({&c, 1}, "") ? c : '_';
  return out;
}

std::string IntegerType(const SiteArgument &argument) {
  if (argument.type == 'p' || argument.type == 'f') return fmt::format("x{}", 8 * argument.size);
  return fmt::format("{}{}", argument.type, 8 * argument.size);
}

std::string EventName(const Site &site) {
  const size_t colon = site.event.find(':');
  if (colon == site.event.npos) return Name(site.event);
  return Name(site.event.substr(0, colon)) + ":" + Name(site.event.substr(colon + 1));
}

// ------------------------------------------- tracefs and perf: one language
//
// %ax, +8(%bx), +0(+8(%bx)), \5. It can add only where it also reads.

class FetchArgument {
 public:
  static std::optional<std::string> Of(const SiteArgument &argument) {
    const auto location = Parse(argument);
    if (!location || argument.type == 'b') return std::nullopt;
    FetchArgument fetch(*location);
    if (argument.type == 'c') return fetch.Read() + ":string";
    if (fetch.pending_ != 0) return std::nullopt;
    if (location->width != 0)
      return fmt::format("{}:b{}@{}/{}", fetch.text_, unsigned{location->width}, unsigned{location->shift},
                         8 * argument.size);
    return fetch.text_ + ":" + IntegerType(argument);
  }

 private:
  explicit FetchArgument(const gkhi_location &location) {
    if (location.kind == GKHI_LOCATION_IMM) {
      text_ = fmt::format("\\{}", location.value);
    } else {
      text_ = std::string("%") + kRegisters[location.reg];
      if (location.kind == GKHI_LOCATION_MEM) {
        pending_ = location.value;
        text_ = Read();
      }
    }
    for (unsigned i = 0; i < location.n_steps; i++) {
      pending_ += location.step[i];
      if (location.deref >> i & 1) text_ = Read();
    }
  }

  std::string Read() {
    std::string text = fmt::format("{:+}({})", pending_, text_);
    pending_ = 0;
    return text;
  }

  std::string text_;
  int64_t pending_ = 0;
};

// ------------------------------------------------------------------ bpftrace

std::optional<std::string> BpftraceValue(const SiteArgument &argument) {
  const auto location = Parse(argument);
  if (!location || argument.type == 'b' || argument.type == 'f') return std::nullopt;
  const unsigned size = argument.type == 'c' || argument.type == 'p' ? 8 : argument.size;
  std::string value = location->kind == GKHI_LOCATION_IMM
                          ? fmt::format("{}", location->value)
                          : fmt::format("reg(\"{}\")", kRegisters[location->reg]);
  const auto read = [&](unsigned bytes) { value = fmt::format("*(uint{}*)({})", 8 * bytes, value); };
  if (location->kind == GKHI_LOCATION_MEM) {
    value = fmt::format("{} + {}", value, location->value);
    read(location->n_steps == 0 ? size : 8);
  }
  for (unsigned i = 0; i < location->n_steps; i++) {
    if (location->step[i] != 0) value = fmt::format("{} + {}", value, location->step[i]);
    if (location->deref >> i & 1) read(i + 1u == location->n_steps ? size : 8);
  }
  if (location->width != 0)
    return fmt::format("(({}) >> {}) & {:#x}", value, unsigned{location->shift},
                       (uint64_t{1} << location->width) - 1);
  if (argument.type == 'c') return fmt::format("str({})", value);
  return fmt::format("({}int{})({})", argument.type == 's' ? "" : "u", 8 * size, value);
}

const char *BpftraceFormat(const SiteArgument &argument) {
  switch (argument.type) {
    case 'c':
      return "%s";
    case 's':
      return "%d";
    case 'p':
      return "0x%llx";
    default:
      return "%llu";
  }
}

std::string BpftraceProbe(const SiteMap &map, const Site &site) {
  std::string format, values, left_out;
  for (const SiteArgument &argument : site.arguments) {
    const auto value = BpftraceValue(argument);
    if (!value) {
      left_out += " " + Name(argument.name);
      continue;
    }
    format += fmt::format(" {}={}", Name(argument.name), BpftraceFormat(argument));
    values += ", " + *value;
  }
  const std::string probe = map.kind == ElfKind::kRelocatable
                                ? fmt::format("kprobe:{}+{}", site.container, site.container_offset)
                                : fmt::format("uprobe:{}:{:#x}", map.path, site.address - map.bias);
  std::string out =
      left_out.empty() ? "" : fmt::format("// left out, bpftrace cannot read them:{}\n", left_out);
  return out + fmt::format("{} {{ printf(\"{}{}\\n\"{}); }}\n", probe, EventName(site), format, values);
}

// One name per site: the event's, then with a number.
std::string UniqueName(const Site &site, std::map<std::string, unsigned> *names) {
  const std::string name = Name(site.event.substr(site.event.find(':') + 1));
  const unsigned number = (*names)[site.event]++;
  return number == 0 ? name : fmt::format("{}_{}", name, number);
}

std::string FetchArguments(const Site &site, std::string *left_out) {
  std::string out;
  for (const SiteArgument &argument : site.arguments) {
    const auto fetch = FetchArgument::Of(argument);
    if (fetch)
      out += fmt::format(" {}={}", Name(argument.name), *fetch);
    else
      *left_out += " " + Name(argument.name);
  }
  return out;
}

std::string FetchProbe(const SiteMap &map, const Site &site, ProbeFormat format, const std::string &name) {
  const bool kernel = map.kind == ElfKind::kRelocatable;
  const std::string group = "gkhi_" + Name(site.event.substr(0, site.event.find(':')));
  std::string left_out;
  const std::string arguments = FetchArguments(site, &left_out);
  std::string out =
      left_out.empty() ? "" : fmt::format("# left out, the kernel cannot read them:{}\n", left_out);
  const std::string function = fmt::format("{}+{}", site.container, site.container_offset);
  if (format == ProbeFormat::kPerf)
    return out + fmt::format("perf probe -{} {} '{}:{}={}{}'\n", kernel ? "m" : "x", map.path, group, name,
                             kernel ? function : fmt::format("{:#x}", site.address - map.bias), arguments);
  return out + fmt::format("p:{}/{} {}{}\n", group, name,
                           kernel ? function : fmt::format("{}:{:#x}", map.path, site.file_offset),
                           arguments);
}

}  // namespace

std::string ProbeText(const SiteMap &map, ProbeFormat format) {
  const bool bpftrace = format == ProbeFormat::kBpftrace;
  const char *comment = bpftrace ? "//" : "#";
  std::string out = fmt::format(
      "{} {}: probes for other tools. Never while gkhi has the hook on: both would patch the pad.\n", comment,
      PrintableLine(map.path));
  if (!IsPlainPath(map.path))
    return out + fmt::format(
                     "{} left out: a path that not every tool can take; wanted letters, digits and "
                     "any of _./+-,@~\n",
                     comment);
  std::map<std::string, unsigned> names;
  for (const Site &site : map.sites) {
    if (site.bytes == PadBytes::kNone) {
      out += fmt::format("{} {} at {}:{}: no pad to place a probe at\n", comment, EventName(site),
                         PrintableLine(site.file), site.line);
      continue;
    }
    if (map.kind == ElfKind::kRelocatable && !IsSymbol(site.container)) {
      out += fmt::format("{} {} at {}+{:#x}: no symbol to place a probe at\n", comment, EventName(site),
                         PrintableLine(site.section), site.address);
      continue;
    }
    out += bpftrace ? BpftraceProbe(map, site) : FetchProbe(map, site, format, UniqueName(site, &names));
  }
  return out;
}

}  // namespace gkhi::reader
