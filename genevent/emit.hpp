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

// C header with the sites as JSON, for the clang pass; docs/format-map.md describes it. `yaml_path` is how
// the compiler finds the event file, to show its lines.
[[nodiscard]] std::string EmitSites(const Model &model, const std::string &yaml_path);

// A whole CTF 1.8 metadata file of the provider, its events numbered from 1 in declared order.
[[nodiscard]] std::string EmitCtf(const Model &model);

// Markdown reference of the provider.
[[nodiscard]] std::string EmitDoc(const Model &model);

// JSON Schema (draft-07) of event files.
[[nodiscard]] std::string EmitSchema();

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
