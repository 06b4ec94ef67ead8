// SPDX-License-Identifier: MIT
// The metadata of one producer: its clock, its environment and the schemas of its events.
#ifndef GKHI_READER_METADATA_HPP
#define GKHI_READER_METADATA_HPP

#include <gkhi/reader/clock.hpp>
#include <gkhi/reader/result.hpp>
#include <gkhi/reader/schema.hpp>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gkhi::reader {

using Uuid = std::array<uint8_t, 16>;

std::string UuidText(const Uuid &uuid);
Result<Uuid> ParseUuid(std::string_view text);

struct Environment {
  uint32_t pid = 0;  // 0: the kernel
  std::string comm;
  std::string boot_id;
  std::string hostname;
};

// What stands in front of the event blocks.
struct TraceHead {
  Uuid uuid{};
  ClockRecord clock;
  Environment env;
  // Events that reached no ring and stand in none of the packets: counted by the hooks (recursion, no route).
  uint64_t unrouted = 0;
};

class Metadata {
 public:
  const TraceHead &head() const { return head_; }
  // The event with this id, or nullptr.
  const Event *Find(uint32_t id) const { return id < by_id_.size() ? by_id_[id].get() : nullptr; }
  // By id; entries may be nullptr.
  const std::vector<std::unique_ptr<Event>> &events() const { return by_id_; }
  // Schemas that were there and could not be used, one text each; their events are not guessed at.
  const std::vector<std::string> &problems() const { return problems_; }

  // Adds the gkhi-event comments in @text; a damaged one becomes a problem. Stops at none of them.
  void AddEvents(std::string_view text);

 private:
  friend Result<Metadata> ParseMetadata(std::string_view text);
  void AddEvent(std::string_view json);

  TraceHead head_;
  std::vector<std::unique_ptr<Event>> by_id_;
  std::set<uint32_t> conflicts_;  // ids that two different schemas claim
  std::vector<std::string> problems_;
};

// The whole metadata file of a trace directory. Reads the gkhi-trace and gkhi-event comments; the TSDL is for
// other readers.
Result<Metadata> ParseMetadata(std::string_view text);

// The blocks that go in front of the process's event blocks: trace, env, clock, stream classes.
std::string ComposeHead(const TraceHead &head);

}  // namespace gkhi::reader

#endif
