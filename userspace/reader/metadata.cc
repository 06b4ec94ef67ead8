// SPDX-License-Identifier: MIT
// Reads the comments in which our schema travels, and writes the blocks in front of the process's own.
#include <fmt/format.h>

#include <gkhi/packet.h>
#include <gkhi/reader/metadata.hpp>

#include <nlohmann/json.hpp>

namespace gkhi::reader {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTraceComment = "/* gkhi-trace ";
constexpr std::string_view kEventComment = "/* gkhi-event ";
constexpr int kVersion = 1;

// The JSON of the comment that starts at @text's @opening; moves @text behind it. A comment is one line.
std::string_view TakeComment(std::string_view *text, size_t opening, std::string_view kind) {
  std::string_view rest = text->substr(opening + kind.size());
  std::string_view line = rest.substr(0, rest.find('\n'));
  const size_t end = line.rfind("*/");
  *text = rest.substr(line.size());
  return end == line.npos ? line : line.substr(0, end);
}

std::string Text(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

template <typename T>
bool Number(const Json &object, const char *key, T *out) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer()) return false;
  *out = it->get<T>();
  return true;
}

Result<ClockRecord> ParseClockObject(const Json &trace) {
  auto it = trace.find("clock");
  if (it == trace.end() || !it->is_object()) return Error{"gkhi-trace: no clock"};
  ClockRecord clock;
  const std::string kind = Text(*it, "kind");
  if (kind != "tsc" && kind != "monotonic") {
    return Error{fmt::format("gkhi-trace: clock kind: found \"{}\", wanted tsc or monotonic", kind)};
  }
  clock.kind = kind == "tsc" ? ClockKind::kTsc : ClockKind::kMonotonic;
  clock.boot_id = Text(*it, "boot_id");
  if (!Number(*it, "frequency", &clock.frequency) ||
      !Number(*it, "realtime_offset", &clock.realtime_offset) ||
      !Number(*it, "monotonic_offset", &clock.monotonic_offset)) {
    return Error{"gkhi-trace: clock: wanted integers frequency, realtime_offset, monotonic_offset"};
  }
  // The text form has the checks: one place for them.
  return ParseClock(FormatClock(clock));
}

Result<TraceHead> ParseHead(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error{"gkhi-trace: not a JSON object"};
  int version = 0;
  if (!Number(json, "version", &version) || version != kVersion) {
    return Error{fmt::format("gkhi-trace: found version {}, wanted {}: this trace needs another gkhi",
                             version, kVersion)};
  }
  TraceHead head;
  Result<Uuid> uuid = ParseUuid(Text(json, "uuid"));
  if (!uuid) return Error{"gkhi-trace: " + uuid.error()};
  head.uuid = *uuid;
  Result<ClockRecord> clock = ParseClockObject(json);
  if (!clock) return Error{clock.error()};
  head.clock = *clock;
  Number(json, "unrouted", &head.unrouted);
  if (auto env = json.find("env"); env != json.end() && env->is_object()) {
    Number(*env, "pid", &head.env.pid);
    head.env.comm = Text(*env, "comm");
    head.env.boot_id = Text(*env, "boot_id");
    head.env.hostname = Text(*env, "hostname");
  }
  return head;
}

// One clock, one uuid: the boot's, told apart by kind.
std::string ClockUuid(const ClockRecord &clock) {
  Result<Uuid> uuid = ParseUuid(clock.boot_id);
  if (!uuid) return clock.boot_id;
  if (clock.kind == ClockKind::kMonotonic) (*uuid)[15] ^= 1;
  return UuidText(*uuid);
}

std::string HeadComment(const TraceHead &head) {
  nlohmann::ordered_json json;
  json["version"] = kVersion;
  json["uuid"] = UuidText(head.uuid);
  json["clock"]["kind"] = head.clock.kind == ClockKind::kTsc ? "tsc" : "monotonic";
  json["clock"]["boot_id"] = head.clock.boot_id;
  json["clock"]["frequency"] = head.clock.frequency;
  json["clock"]["realtime_offset"] = head.clock.realtime_offset;
  json["clock"]["monotonic_offset"] = head.clock.monotonic_offset;
  json["unrouted"] = head.unrouted;
  json["env"]["pid"] = head.env.pid;
  json["env"]["comm"] = head.env.comm;
  json["env"]["boot_id"] = head.env.boot_id;
  json["env"]["hostname"] = head.env.hostname;
  std::string text = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  // A name may hold "*/"; JSON may spell the slash with a backslash, which keeps the comment whole.
  for (size_t at = 0; (at = text.find("*/", at)) != text.npos; at += 3) text.insert(at + 1, "\\");
  return text;
}

// TSDL strings: C escapes; anything else than printable ASCII becomes '?', the JSON above has the true text.
std::string TsdlString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return out + "\"";
}

// CTF counts an offset in seconds and ticks. Rounded up, so that the ticks convert back to the same
// nanosecond.
void ClockOffset(const ClockRecord &clock, int64_t *seconds, uint64_t *ticks) {
  constexpr int64_t kSecond = 1000000000;
  *seconds = clock.realtime_offset / kSecond;
  int64_t ns = clock.realtime_offset % kSecond;
  if (ns < 0) {
    ns += kSecond;
    --*seconds;
  }
  *ticks =
      static_cast<uint64_t>((static_cast<unsigned __int128>(ns) * clock.frequency + kSecond - 1) / kSecond);
}

constexpr std::string_view kTypes = R"(typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
)";

constexpr std::string_view kStreams = R"(
typealias integer { size = 64; align = 8; signed = false; map = clock.gkhi.value; } := gkhi_ticks;

struct gkhi_context {
	gkhi_ticks timestamp_begin;
	gkhi_ticks timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint64_t count_begin;
	uint32_t cpu_id;
	uint32_t pid;
	uint32_t generation;
	uint32_t reserved;
};

stream {
	id = 0;
	packet.context := struct gkhi_context;
	event.header := struct {
		integer { size = 16; align = 8; signed = false; } id;
		integer { size = 48; align = 8; signed = false; map = clock.gkhi.value; } timestamp;
	} align(64);
};

stream {
	id = 1;
	packet.context := struct gkhi_context;
	event.header := struct {
		gkhi_ticks timestamp;
		uint32_t id;
	} align(64);
	event.context := struct {
		uint32_t tid;
	};
};

stream {
	id = 2;
	packet.context := struct gkhi_context;
	event.header := struct {
		uint64_t id;
	} align(64);
};
)";

}  // namespace

std::string UuidText(const Uuid &uuid) {
  std::string out;
  for (size_t i = 0; i < uuid.size(); i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", uuid[i]);
  }
  return out;
}

Result<Uuid> ParseUuid(std::string_view text) {
  Uuid uuid{};
  const auto bad = [&] {
    return Error{fmt::format("uuid: found \"{}\", wanted 8-4-4-4-12 hexadecimal digits", text)};
  };
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (text.size() != 36) return bad();
  for (size_t i = 0, at = 0; i < uuid.size(); i++, at += 2) {
    if ((i == 4 || i == 6 || i == 8 || i == 10) && text[at++] != '-') return bad();
    const int high = digit(text[at]);
    const int low = digit(text[at + 1]);
    if (high < 0 || low < 0) return bad();
    uuid[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return uuid;
}

void Metadata::AddEvent(std::string_view json) {
  Result<Event> event = ParseEventJson(json);
  if (!event) {
    problems_.push_back(event.error());
    return;
  }
  if (event->id >= by_id_.size()) by_id_.resize(event->id + 1);
  if (conflicts_.count(event->id) != 0) return;
  std::unique_ptr<Event> &slot = by_id_[event->id];
  if (slot == nullptr) {
    slot = std::make_unique<Event>(std::move(*event));
  } else if (slot->layout != event->layout || slot->full_name != event->full_name) {
    // Once per stream class is normal; another event under the same id is not: neither can be trusted.
    problems_.push_back(fmt::format("id {} is {} (layout {:#x}) and {} (layout {:#x})", event->id,
                                    slot->full_name, slot->layout, event->full_name, event->layout));
    conflicts_.insert(event->id);
    slot.reset();
  }
}

void Metadata::AddEvents(std::string_view text) {
  size_t at;
  while ((at = text.find(kEventComment)) != text.npos) AddEvent(TakeComment(&text, at, kEventComment));
}

Result<Metadata> ParseMetadata(std::string_view text) {
  const size_t at = text.find(kTraceComment);
  if (at == text.npos) {
    return Error{
        "no \"/* gkhi-trace\" comment: wanted metadata of gkhi (babeltrace2 reads other CTF traces)"};
  }
  std::string_view rest = text;
  Result<TraceHead> head = ParseHead(TakeComment(&rest, at, kTraceComment));
  if (!head) return Error{head.error()};
  Metadata metadata;
  metadata.head_ = *head;
  metadata.AddEvents(rest);
  return metadata;
}

std::string ComposeHead(const TraceHead &head) {
  int64_t seconds;
  uint64_t ticks;
  ClockOffset(head.clock, &seconds, &ticks);
  std::string out = "/* CTF 1.8 */\n\n";
  out += fmt::format("{}{} */\n\n", kTraceComment, HeadComment(head));
  out += kTypes;
  out += fmt::format(
      "\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{}\";\n\tbyte_order = le;\n"
      "\tpacket.header := struct {{\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t "
      "stream_id;\n\t}};\n}};\n",
      UuidText(head.uuid));
  out += fmt::format(
      "\nenv {{\n\ttracer_name = \"gkhi\";\n\ttracer_major = {};\n\ttracer_minor = {};\n\thostname = "
      "{};\n\tprocname = {};\n"
      "\tvpid = {};\n\tboot_id = {};\n}};\n",
      GKHI_VERSION_MAJOR, GKHI_VERSION_MINOR, TsdlString(head.env.hostname), TsdlString(head.env.comm),
      head.env.pid, TsdlString(head.env.boot_id));
  out += fmt::format(
      "\nclock {{\n\tname = \"gkhi\";\n\tuuid = \"{}\";\n\tdescription = \"{}\";\n\tfreq = {};\n\toffset_s = "
      "{};\n"
      "\toffset = {};\n\tabsolute = TRUE;\n}};\n",
      ClockUuid(head.clock), head.clock.kind == ClockKind::kTsc ? "time stamp counter" : "CLOCK_MONOTONIC",
      head.clock.frequency, seconds, ticks);
  out += kStreams;
  return out + "\n";
}

}  // namespace gkhi::reader
