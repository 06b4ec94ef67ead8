// SPDX-License-Identifier: MIT
// The wire layout of an event and its hash.
#ifndef GENEVENT_LAYOUT_HPP_
#define GENEVENT_LAYOUT_HPP_

#include "model.hpp"

namespace genevent {

constexpr uint32_t kMaxPayloadWords = 0xffff;
constexpr uint32_t kFixedArrayBytes = 16;  // larger arrays go to the tail

// Fills in the layout members of the event. False when the payload can exceed kMaxPayloadWords.
[[nodiscard]] bool LayOut(const Model &model, Event *event);

// The text that is hashed; docs/format-yaml.md describes it.
[[nodiscard]] std::string CanonicalText(const Model &model, const Event &event);

}  // namespace genevent

#endif  // GENEVENT_LAYOUT_HPP_
