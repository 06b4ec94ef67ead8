// SPDX-License-Identifier: MIT
// Nodes -> Model: every rule of an event file, checked in stages; all errors of a file are reported together.
#ifndef GENEVENT_FRONT_HPP_
#define GENEVENT_FRONT_HPP_

#include "model.hpp"
#include "result.hpp"

namespace genevent {

struct Checked {
  Model model;
  Diagnostics warnings;
};

// Text -> model: YAML, names, types, sites, messages, layout.
[[nodiscard]] Result<Checked> Load(const Source &source);

}  // namespace genevent

#endif  // GENEVENT_FRONT_HPP_
