// SPDX-License-Identifier: MIT
// Which changes of an event file break those who read its traces or switch its hooks.
#ifndef GENEVENT_COMPAT_HPP_
#define GENEVENT_COMPAT_HPP_

#include "model.hpp"

namespace genevent {

// Only `stable` events of the old file are a promise: a break of one is an error, of an `evolving` one a
// warning; `private` ones are ignored. Positions are those of the new file; `old_name` is what messages call
// the old one.
[[nodiscard]] Diagnostics Compare(const Model &before, const Model &after, const std::string &old_name);

}  // namespace genevent

#endif  // GENEVENT_COMPAT_HPP_
