// SPDX-License-Identifier: MIT
// Records as text: the ftrace-like line, the message template, one JSON object per line.
#ifndef GKHI_READER_RENDER_HPP
#define GKHI_READER_RENDER_HPP

#include <gkhi/reader/trace.hpp>

#include <string>
#include <string_view>
#include <unordered_map>

namespace gkhi::reader {

enum class Body {
  kFields,   // k=v k=v
  kMessage,  // the event's message template; fields where it has none
};

enum class TimeBase {
  kMonotonic,  // seconds of CLOCK_MONOTONIC, as ftrace and dmesg print them
  kWall,       // seconds since 1970
};

// Appends one value as text: "10.0.0.1", "0x1f", "up", "READ|WRITE|0x40", "\"a b\"", "[1, 2]".
void AppendValue(const Value &value, std::string *out);

// The same as a number in the base that @show says (GKHI_SHOW_DEC, _HEX, _OCT), whatever the field's own
// format is; lists element by element.
void AppendFormatted(const Value &value, uint8_t show, std::string *out);

// Appends one value as JSON; docs/format-trace.md says which type becomes what.
void AppendJsonValue(const Value &value, std::string *out);

// Appends @text as a JSON string; bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string *out);

// Renders records of one set of traces. Not for several threads at once.
class Renderer {
 public:
  Renderer(Body body, TimeBase base) : body_(body), base_(base) {}

  //   comm-PID     [CPU] ..... SECONDS.NANOSECONDS: provider:event: body
  void AppendLine(const MergedRecord &merged, std::string *out);
  void AppendJson(const MergedRecord &merged, std::string *out);

 private:
  // A message template, cut into literals and field indices once per event.
  struct Piece {
    std::string literal;
    int field = -1;
    uint8_t show = GKHI_SHOW_DEC;  // of "{name:x}"
    bool own_show = false;         // the field's own format
  };
  const std::vector<Piece> &Pieces(const Event &event);
  // "name" or "name:x" into @piece; false: not a place of this event.
  static bool ParsePlace(const Event &event, std::string_view place, Piece *piece);
  const std::string &Task(const Trace &trace, uint32_t pid);
  void AppendFields(const Record &record, std::string *out);
  void AppendMessage(const Record &record, std::string *out);
  void AppendTime(const Trace &trace, uint64_t ticks, std::string *out);

  Body body_;
  TimeBase base_;
  std::unordered_map<const Event *, std::vector<Piece>> pieces_;
  const Trace *task_trace_ = nullptr;
  uint32_t task_pid_ = 0;
  std::string task_;
};

}  // namespace gkhi::reader

#endif
