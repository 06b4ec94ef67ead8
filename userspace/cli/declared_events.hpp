// SPDX-License-Identifier: MIT
// Which events a YAML file declares: for `gkhi map --check`.
#ifndef GKHI_CLI_DECLARED_EVENTS_HPP
#define GKHI_CLI_DECLARED_EVENTS_HPP

#include <gkhi/reader/result.hpp>
#include <string>
#include <vector>

namespace gkhi::cli {

// The events that must have a site: all but those that are attached to other code, and those whose every
// `site:` is optional. `list` is a YAML file or names with commas between.
Result<std::vector<std::string>> DeclaredEvents(const std::string &list);

}  // namespace gkhi::cli

#endif
