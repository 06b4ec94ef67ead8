// SPDX-License-Identifier: MIT
// The map records that generated macros leave: one argument per field in declared order, two per counted
// field, all with a location that the grammar of docs/format-map.md knows.
#include <gkhi/abi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "gkhi_crowd.h"
#include "gkhi_types.h"

extern "C" {
extern const char __start_gkhi_sites[] __attribute__((visibility("hidden")));
extern const char __stop_gkhi_sites[] __attribute__((visibility("hidden")));
extern const gkhi_event __start_gkhi_events[] __attribute__((visibility("hidden")));
extern const gkhi_event __stop_gkhi_events[] __attribute__((visibility("hidden")));
}

// Never called; its sites are what is looked at.
void RecordTestSites(uint32_t n, const char *s, const uint8_t *b, const uint64_t *w, const double *d,
                     const volatile void *const *p, const bool *t, const uint16_t *h, const int8_t *c,
                     const int32_t *i) {
  gkhi_types_none();
  gkhi_types_scalars((uint8_t)n, (uint16_t)n, n, n, 1, 2, 3, 4, true, 1.5, s, -1, 1, 2);
  gkhi_types_tails(s, b, n, &n, n, w, d, p, n, t, h, s, s, n, n);
  gkhi_types_mk(s, 1.5, b, n);
  gkhi_crowd_many(n, 1, 2, 3, 4, true, 6, 7, 8, 9, 10, s, s, s, b, n, h, n, b, b, 2.5);
  gkhi_crowd_strings(s, s, s, s, s, s, s);
  gkhi_crowd_unaligned(1, b, 2, 3, h, 4, c);
  gkhi_crowd_bare(n, 1, 2, 3, 4, 5, 6, 7, s, s, 8, i, n);
}

namespace {

struct Argument {
  char type;
  unsigned size;
  std::string name;
  std::string location;
};

struct Record {
  gkhi_record head;
  std::vector<Argument> arguments;
};

std::map<std::string, Record> ReadRecords() {
  std::map<std::string, Record> out;
  const char *at = __start_gkhi_sites;
  while (at + sizeof(gkhi_record) <= __stop_gkhi_sites) {
    Record record;
    std::memcpy(&record.head, at, sizeof record.head);
    if (record.head.magic != GKHI_RECORD_MAGIC) {
      at += 4;
      continue;
    }
    const char *next = at + sizeof record.head;
    const auto text = [&] {
      std::string value = next;
      next += value.size() + 1;
      return value;
    };
    const std::string event = text();
    text();
    text();
    for (int i = 0; i < record.head.nargs; i++) {
      Argument argument{next[0], static_cast<unsigned char>(next[1]), "", ""};
      next += 2;
      argument.name = text();
      argument.location = text();
      record.arguments.push_back(argument);
    }
    out.emplace(event, record);
    at += record.head.size;
  }
  return out;
}

char WantedType(const gkhi_field &field) {
  if (field.type == GKHI_T_STRING) return 'c';
  if (field.form != GKHI_FORM_SCALAR) return 'b';
  switch (field.type) {
    case GKHI_T_BOOL:
    case GKHI_T_FLAGS:
      return 'u';
    case GKHI_T_ENUM:
      return field.size < 8 && field.enumerators[0].value < 0 ? 's' : 'u';
    default:
      return static_cast<char>(field.type);
  }
}

TEST(RecordTest, HasOneArgumentPerFieldAndPerCount) {
  const auto records = ReadRecords();
  const std::regex location(R"(\$-?\d+|%[a-z0-9]+|-?\d*\(%[a-z0-9]+\))");
  size_t checked = 0;
  for (const gkhi_event *event = __start_gkhi_events; event < __stop_gkhi_events; event++) {
    const std::string name = std::string(event->provider) + ":" + event->name;
    const auto found = records.find(name);
    if (name == "types:st") {
      EXPECT_EQ(found, records.end()) << "states: [static] has no pad";
      continue;
    }
    ASSERT_NE(found, records.end()) << name;
    const Record &record = found->second;
    EXPECT_EQ(uint64_t{record.head.layout_hi} << 32 | record.head.layout_lo, event->layout);
    EXPECT_EQ(record.head.flags, event->states == GKHI_HAS_MARKER ? GKHI_RECORD_BARE : 0);
    size_t next = 0;
    for (size_t i = 0; i < event->n_fields; i++) {
      const gkhi_field &field = event->fields[i];
      ASSERT_LT(next, record.arguments.size()) << name;
      const Argument &argument = record.arguments[next++];
      EXPECT_EQ(argument.name, field.name) << name;
      EXPECT_EQ(argument.type, WantedType(field)) << name << " " << field.name;
      EXPECT_EQ(argument.size, field.size) << name << " " << field.name;
      EXPECT_TRUE(std::regex_match(argument.location, location)) << argument.location;
      if (field.len_offset == GKHI_NO_OFFSET) continue;
      ASSERT_LT(next, record.arguments.size()) << name;
      const Argument &count = record.arguments[next++];
      EXPECT_EQ(count.name, std::string(field.name) + ".len");
      EXPECT_EQ(count.type, 'u');
      EXPECT_EQ(count.size, 4u);
    }
    EXPECT_EQ(next, record.arguments.size()) << name;
    checked++;
  }
  EXPECT_EQ(checked, 8u);
}

}  // namespace
