// SPDX-License-Identifier: MIT
// Message templates: "dev={dev} len={len:x}". Data, never C.
#ifndef GENEVENT_MESSAGE_HPP_
#define GENEVENT_MESSAGE_HPP_

#include "model.hpp"
#include "scope.hpp"

namespace genevent {

// Checks a template against the fields. `at` is where the text begins in the file.
bool CheckMessage(const std::string &text, const YamlNode &node, const std::vector<Field> &fields,
                  Report *report);

// "name={name} ..." for events that declare none.
[[nodiscard]] std::string DefaultMessage(const std::vector<Field> &fields);

}  // namespace genevent

#endif  // GENEVENT_MESSAGE_HPP_
