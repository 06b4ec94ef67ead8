// SPDX-License-Identifier: MIT
// YAML text -> a tree of located nodes. The only part of genevent that knows the YAML library.
//
// Accepts the plain subset of YAML that every reader understands in the same way: one document of maps,
// sequences and scalars. Anchors, aliases, tags, merge keys, duplicate keys and non-scalar keys are errors.
#ifndef GENEVENT_YAML_HPP_
#define GENEVENT_YAML_HPP_

#include <string>
#include <vector>

#include "result.hpp"

namespace genevent {

struct YamlNode {
  enum class Kind { kNull, kScalar, kMap, kSequence };

  Kind kind = Kind::kNull;
  bool quoted = false;  // scalars: quoted or a block scalar, so certainly text
  Position at = {};
  std::string text = {};             // scalars
  std::vector<YamlNode> keys = {};   // maps; scalars, all different
  std::vector<YamlNode> items = {};  // maps: the values of `keys`; sequences: the elements

  [[nodiscard]] const YamlNode *Find(std::string_view key) const;
};

// What to call a node in "found ...": a map, the integer 5, the text 'abc'.
[[nodiscard]] std::string Describe(const YamlNode &node);

[[nodiscard]] Result<YamlNode> ParseYaml(const Source &source);

}  // namespace genevent

#endif  // GENEVENT_YAML_HPP_
