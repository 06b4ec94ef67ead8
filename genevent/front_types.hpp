// SPDX-License-Identifier: MIT
// The front end's knowledge of types: enum and flags tables, type texts, formats.
#ifndef GENEVENT_FRONT_TYPES_HPP_
#define GENEVENT_FRONT_TYPES_HPP_

#include <set>
#include <string>

#include "model.hpp"
#include "scope.hpp"

namespace genevent {

// Reads `enums:` or `flags:` into the model. `constants` holds the C names that are taken.
void ReadEnums(const YamlNode &node, bool is_flags, Model *model, std::set<std::string> *constants,
               Report *report);

// Reads one entry of `fields:`; false when it is too broken to go on with.
bool ReadField(const YamlNode &node, const Model &model, Field *field, Report *report);

}  // namespace genevent

#endif  // GENEVENT_FRONT_TYPES_HPP_
