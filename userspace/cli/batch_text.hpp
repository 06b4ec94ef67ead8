// SPDX-License-Identifier: MIT
// Changes the text of a batch without knowing all of its grammar (docs/control.md).
#ifndef GKHI_CLI_BATCH_TEXT_HPP
#define GKHI_CLI_BATCH_TEXT_HPP

#include <gkhi/control.h>

#include <string>
#include <string_view>
#include <vector>

namespace gkhi::cli {

// The batch with " channel=NAME" behind every statement about hooks that names no channel of its own, and
// "+on" behind those that say nothing but which hooks.
std::string RouteTo(std::string_view batch, std::string_view channel);

// The batch that takes back what RouteTo() did: hooks that go to @channel in @now get the state and channels
// that they had in @before, or are disabled. "": there are none.
std::string TakeBack(const std::vector<gkhi_control_hook> &before, const std::vector<gkhi_control_hook> &now,
                     std::string_view channel);

}  // namespace gkhi::cli

#endif
