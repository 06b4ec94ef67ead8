// SPDX-License-Identifier: MIT
// `site:`, the places in untouched source at which the clang pass puts a marker.
#ifndef GENEVENT_FRONT_SITE_HPP_
#define GENEVENT_FRONT_SITE_HPP_

#include "model.hpp"
#include "scope.hpp"

namespace genevent {

// `node` is the value of `site:`, one map or a sequence of them; `states` that of `states:`. Either may be
// nullptr.
void ReadSites(const YamlNode *node, const YamlNode *states, Event *event, Report *report);

}  // namespace genevent

#endif  // GENEVENT_FRONT_SITE_HPP_
