// SPDX-License-Identifier: MIT
// The rules of compatibility: events stay, fields are only appended, values keep their names and numbers.
#include "compat.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace genevent {
namespace {

class Comparison {
 public:
  Comparison(const Model &before, const Model &after, const std::string &old_name)
      : before_(before), after_(after), old_name_(old_name) {}

  Diagnostics Run() {
    if (before_.provider != after_.provider) {
      severity_ = Severity::kError;
      Break({1, 1}, {}, fmt::format("the provider was '{}' and is '{}'", before_.provider, after_.provider),
            "another name is another provider: give it a file of its own");
      return std::move(out_);
    }
    for (const Event &event : before_.events) {
      if (event.stability == Stability::kPrivate) continue;
      severity_ = event.stability == Stability::kStable ? Severity::kError : Severity::kWarning;
      const auto same = [&](const Event &other) { return other.name == event.name; };
      const auto found = std::find_if(after_.events.begin(), after_.events.end(), same);
      if (found == after_.events.end()) {
        Break({}, event.at, fmt::format("{} event '{}' is gone", StabilityName(event.stability), event.name),
              "keep it, with 'deprecated: true'");
      } else {
        CompareEvent(event, *found);
      }
    }
    return std::move(out_);
  }

 private:
  void Add(Severity severity, Position at, Position old_at, std::string message, std::string hint) {
    if (old_at.line != 0) message += fmt::format(" ({}:{}:{})", old_name_, old_at.line, old_at.column);
    out_.push_back({severity, at, std::move(message), std::move(hint)});
  }
  void Break(Position at, Position old_at, std::string message, std::string hint = {}) {
    Add(severity_, at, old_at, std::move(message), std::move(hint));
  }

  void CompareEvent(const Event &before, const Event &after) {
    if (after.stability < before.stability) {
      Break(after.at, before.at,
            fmt::format("event '{}' was {} and is {}", before.name, StabilityName(before.stability),
                        StabilityName(after.stability)),
            "a promise is not taken back; mark the event 'deprecated: true'");
    }
    if (before.kind != after.kind || before.returns != after.returns) {
      Break(after.at, before.at,
            fmt::format("event '{}' was {} and is {}", before.name, KindText(before), KindText(after)));
    }
    if ((before.has_static && !after.has_static) || (before.has_marker && !after.has_marker)) {
      Break(after.at, before.at,
            fmt::format("event '{}' has lost its state {}", before.name,
                        before.has_static && !after.has_static ? "static" : "marker"),
            "whoever switches it there gets an error now");
    }
    if (before.since != 0 && after.since != before.since) {
      Break(
          after.at, before.at,
          fmt::format("event '{}' has been there since {}, not {}", before.name, before.since, after.since));
    }
    CompareFields(before, after);
  }

  static std::string KindText(const Event &event) {
    return event.kind == "gate" ? fmt::format("a gate that returns {}", event.returns) : "an event";
  }

  void CompareFields(const Event &before, const Event &after) {
    for (size_t i = 0; i < before.fields.size(); i++) {
      const Field &old_field = before.fields[i];
      const auto same = [&](const Field &other) { return other.name == old_field.name; };
      const auto found = std::find_if(after.fields.begin(), after.fields.end(), same);
      if (found == after.fields.end()) {
        Break(after.at, old_field.at,
              fmt::format("field '{}' of event '{}' is gone", old_field.name, before.name),
              "fields are only appended; an unused one stays");
        return;  // what follows has moved, and only because of this
      }
      const auto place = static_cast<size_t>(found - after.fields.begin());
      if (place != i) {
        Break(found->at, old_field.at,
              fmt::format("field '{}' of event '{}' was number {} and is number {}", old_field.name,
                          before.name, i + 1, place + 1),
              "new fields go behind all others");
        return;
      }
      CompareField(before, old_field, *found);
    }
  }

  void CompareField(const Event &event, const Field &before, const Field &after) {
    const EnumType *old_enum = EnumOf(before_, before);
    const EnumType *new_enum = EnumOf(after_, after);
    const std::string old_type = TypeText(before_, before);
    const std::string new_type = TypeText(after_, after);
    const std::string where = fmt::format("field '{}' of event '{}'", before.name, event.name);
    if (before.kind != after.kind || before.form != after.form || before.size != after.size ||
        before.is_signed != after.is_signed || (before.form == Form::kArray && before.max != after.max)) {
      const bool base = old_type == new_type;
      Break(after.at, before.at,
            fmt::format("{} was {}{} and is {}{}", where, old_type, base ? BaseText(before) : "", new_type,
                        base ? BaseText(after) : ""),
            "append a new field and keep this one");
      return;
    }
    if (after.max < before.max) {
      Break(after.at, before.at, fmt::format("{} had 'max: {}' and has {}", where, before.max, after.max),
            "what fitted is cut now");
    } else if (after.max > before.max) {
      Add(Severity::kWarning, after.at, before.at,
          fmt::format("{} had 'max: {}' and has {}", where, before.max, after.max),
          "readers with room for the old size cut it");
    }
    if (before.show != after.show) {
      Add(Severity::kWarning, after.at, before.at,
          fmt::format("{} had format {} and has {}", where, ShowName(before.show), ShowName(after.show)),
          "texts of traces look different");
    }
    if (old_enum != nullptr && new_enum != nullptr) CompareEnum(where, after, *old_enum, *new_enum);
  }

  static std::string BaseText(const Field &field) {
    return fmt::format(" ({}{})", field.is_signed ? 's' : 'u', field.size * 8);
  }

  void CompareEnum(const std::string &where, const Field &field, const EnumType &before,
                   const EnumType &after) {
    for (const Enumerator &value : before.values) {
      const auto named = std::find_if(after.values.begin(), after.values.end(),
                                      [&](const Enumerator &other) { return other.name == value.name; });
      const auto numbered = std::find_if(after.values.begin(), after.values.end(),
                                         [&](const Enumerator &other) { return other.value == value.value; });
      if (named != after.values.end() && named->value == value.value) continue;
      const std::string number = NumberText(before, value);
      if (named != after.values.end()) {
        Break(named->at, value.at,
              fmt::format("value '{}' of {} was {} and is {}", value.name, where, number,
                          NumberText(after, *named)));
      } else if (numbered != after.values.end()) {
        Break(numbered->at, value.at,
              fmt::format("value {} of {} was '{}' and is '{}'", number, where, value.name, numbered->name));
      } else {
        Break(field.at, value.at, fmt::format("value '{}' of {} is gone", value.name, where),
              "keep the value");
      }
    }
  }

  static std::string NumberText(const EnumType &type, const Enumerator &value) {
    if (type.is_flags) return fmt::format("0x{:x}", value.value);
    return type.is_signed ? fmt::format("{}", static_cast<int64_t>(value.value))
                          : fmt::format("{}", value.value);
  }

  const Model &before_;
  const Model &after_;
  const std::string &old_name_;
  Severity severity_ = Severity::kError;
  Diagnostics out_;
};

}  // namespace

Diagnostics Compare(const Model &before, const Model &after, const std::string &old_name) {
  return Comparison(before, after, old_name).Run();
}

}  // namespace genevent
