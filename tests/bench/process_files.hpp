// SPDX-License-Identifier: MIT
// What this process's own tracing files say, so that a variant that records nothing can't pass for a fast
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gkhi::bench {

// The process's directory below GKHI_DIR; empty: none yet.
std::string ProcessDirectory();

// Events ever committed to a ring, by its counters.
std::optional<std::uint64_t> RingEvents(const std::string &channel);

// "static", "marker" or "disabled" with the reason when it is not what was asked for; "not found".
std::string EffectiveState(const std::string &hook);

}  // namespace gkhi::bench
