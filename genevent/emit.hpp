// SPDX-License-Identifier: MIT
// Model -> text. Each emitter returns a whole file as a value; the command line writes it.
#ifndef GENEVENT_EMIT_HPP_
#define GENEVENT_EMIT_HPP_

#include <string>

#include "model.hpp"

namespace genevent {

// Stub header: one macro per event. C11, C++20 and kernel C by the same text.
[[nodiscard]] std::string EmitHeader(const Model &model);

// Descriptor source, C: tables, struct gkhi_event objects, registration.
[[nodiscard]] std::string EmitSource(const Model &model);

// One line of JSON that says all a reader needs of an event; docs/format-yaml.md describes it. It can stand
// inside a C comment: "*/" is written "*\/".
[[nodiscard]] std::string EmitEventJson(const Model &model, const Event &event);

// TSDL of an event's fields: "struct { ... }", one line.
[[nodiscard]] std::string EmitEventTsdl(const Model &model, const Event &event);

// The symbol of an event in C: "<provider>_<event>".
[[nodiscard]] std::string Symbol(const Model &model, const Event &event);

// Name of the u32 that counts a sequence's elements, in CTF.
[[nodiscard]] std::string CtfCountName(const Field &field);

}  // namespace genevent

#endif  // GENEVENT_EMIT_HPP_
