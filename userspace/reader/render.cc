// SPDX-License-Identifier: MIT
// Whole records as lines: ftrace-like text, message templates, JSON.
#include <gkhi/reader/printable.hpp>
#include <gkhi/reader/render.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gkhi::reader {
namespace {

constexpr int64_t kSecond = 1000000000;
constexpr size_t kTaskWidth = 16;  // as ftrace: "%16s-%-7d"
constexpr size_t kPidWidth = 7;

template <typename T>
void AppendInt(T value, std::string *out) {
  const fmt::format_int text(value);
  out->append(text.data(), text.size());
}

void AppendPadded(uint64_t value, size_t width, std::string *out) {
  const fmt::format_int text(value);
  out->append(width > text.size() ? width - text.size() : 0, '0');
  out->append(text.data(), text.size());
}

// "[001]"; a record written without restartable sequences does not know its cpu.
void AppendCpu(uint32_t cpu, std::string *out) {
  *out += '[';
  if (cpu == GKHI_CPU_NONE) {
    *out += "---";
  } else {
    AppendPadded(cpu, 3, out);
  }
  *out += ']';
}

}  // namespace

bool Renderer::ParsePlace(const Event &event, std::string_view place, Piece *piece) {
  const size_t colon = place.find(':');
  piece->field = event.FieldIndex(place.substr(0, colon));
  piece->own_show = colon == place.npos;
  if (piece->field < 0 || piece->own_show) return piece->field >= 0;
  const std::string_view format = place.substr(colon + 1);
  piece->show = format == "x" ? GKHI_SHOW_HEX : format == "o" ? GKHI_SHOW_OCT : GKHI_SHOW_DEC;
  return format == "x" || format == "o" || format == "d";
}

const std::vector<Renderer::Piece> &Renderer::Pieces(const Event &event) {
  auto [it, added] = pieces_.try_emplace(&event);
  if (!added) return it->second;
  Piece piece;
  const std::string line = PrintableLine(event.message);
  const std::string_view text = line;
  for (size_t i = 0; i < text.size(); i++) {
    if (i + 1 < text.size() && (text[i] == '{' || text[i] == '}') && text[i + 1] == text[i]) {
      piece.literal += text[i++];  // "{{" and "}}"
      continue;
    }
    const size_t close = text[i] == '{' ? text.find('}', i) : text.npos;
    if (close == text.npos || !ParsePlace(event, text.substr(i + 1, close - i - 1), &piece)) {
      piece.literal += text[i];  // not of our making: shown as it is
      continue;
    }
    it->second.push_back(piece);
    piece = {};
    i = close;
  }
  piece.field = -1;
  if (!piece.literal.empty()) it->second.push_back(piece);
  return it->second;
}

const std::string &Renderer::Task(const Trace &trace, uint32_t pid) {
  if (task_trace_ == &trace && task_pid_ == pid) return task_;
  task_trace_ = &trace;
  task_pid_ = pid;
  std::string comm = trace.metadata().head().env.comm;
  std::replace_if(
      comm.begin(), comm.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; }, '_');
  comm = PrintableLine(comm);
  if (comm.empty()) comm = "<...>";
  task_ = fmt::format("{:>{}}-{:<{}} ", comm, kTaskWidth, pid, kPidWidth);
  return task_;
}

void Renderer::AppendTime(const Trace &trace, uint64_t ticks, std::string *out) {
  const ClockRecord &clock = trace.metadata().head().clock;
  int64_t ns = base_ == TimeBase::kWall ? clock.ToRealtime(ticks) : clock.ToMonotonic(ticks);
  uint64_t distance = static_cast<uint64_t>(ns);
  if (ns < 0) {
    *out += '-';
    distance = 0 - distance;
  }
  AppendInt(distance / kSecond, out);
  *out += '.';
  AppendPadded(distance % kSecond, 9, out);
}

void Renderer::AppendFields(const Record &record, std::string *out) {
  for (size_t i = 0; i < record.n_fields(); i++) {
    const Value value = record.Get(i);
    if (i > 0) *out += ' ';
    *out += value.field->name;
    *out += '=';
    AppendValue(value, out);
  }
}

void Renderer::AppendMessage(const Record &record, std::string *out) {
  for (const Piece &piece : Pieces(*record.event)) {
    *out += piece.literal;
    if (piece.field < 0) continue;
    const Value value = record.Get(piece.field);
    if (piece.own_show) {
      AppendValue(value, out);
    } else {
      AppendFormatted(value, piece.show, out);
    }
  }
}

void Renderer::AppendLine(const MergedRecord &merged, std::string *out) {
  const Record &record = *merged.record;
  *out += Task(*merged.trace, record.tid != 0 ? record.tid : record.pid);
  AppendCpu(record.cpu, out);
  *out += " ..... ";
  AppendTime(*merged.trace, record.ticks, out);
  *out += ": ";
  *out += record.event->full_name;
  *out += ": ";
  if (body_ == Body::kMessage && !record.event->message.empty()) {
    AppendMessage(record, out);
  } else {
    AppendFields(record, out);
  }
  *out += '\n';
}

void Renderer::AppendJson(const MergedRecord &merged, std::string *out) {
  const Record &record = *merged.record;
  const TraceHead &head = merged.trace->metadata().head();
  *out += "{\"time\":";
  AppendInt(head.clock.ToRealtime(record.ticks), out);
  *out += ",\"ticks\":";
  AppendInt(record.ticks, out);
  *out += ",\"provider\":";
  AppendJsonString(record.event->provider, out);
  *out += ",\"event\":";
  AppendJsonString(record.event->name, out);
  *out += ",\"comm\":";
  AppendJsonString(head.env.comm, out);
  *out += ",\"pid\":";
  AppendInt(record.pid, out);
  if (record.tid != 0) {
    *out += ",\"tid\":";
    AppendInt(record.tid, out);
  }
  *out += ",\"cpu\":";
  if (record.cpu == GKHI_CPU_NONE) {
    *out += "null";
  } else {
    AppendInt(record.cpu, out);
  }
  *out += ",\"fields\":{";
  for (size_t i = 0; i < record.n_fields(); i++) {
    const Value value = record.Get(i);
    if (i > 0) *out += ',';
    AppendJsonString(value.field->name, out);
    *out += ':';
    AppendJsonValue(value, out);
  }
  *out += '}';
  if (body_ == Body::kMessage && !record.event->message.empty()) {
    std::string message;
    AppendMessage(record, &message);
    *out += ",\"message\":";
    AppendJsonString(message, out);
  }
  *out += "}\n";
}

}  // namespace gkhi::reader
