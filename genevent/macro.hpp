// SPDX-License-Identifier: MIT
// The function-like macro that a hooked source calls.
#ifndef GENEVENT_MACRO_HPP_
#define GENEVENT_MACRO_HPP_

#include <string>
#include <vector>

#include "model.hpp"

namespace genevent {

struct Parameter {
  std::string name;
  std::string type;  // as in a prototype
};

// Per field one parameter, per counted field two: the pointer and the count.
using Parameters = std::vector<std::vector<Parameter>>;

[[nodiscard]] Parameters MakeParameters(const Event &event);

// "len, dev".
[[nodiscard]] std::string NameList(const Parameters &parameters);
// "uint32_t, const char *"; without names, which could be keywords or macros.
[[nodiscard]] std::string TypeList(const Parameters &parameters);

enum class Shape {
  kHook,  // a key; behind it pad and call
  kCall,  // a key; behind it the call alone
  kBare,  // a pad in the hot path
};

// "#define gkhi_<provider>_<event>(...) ..."
[[nodiscard]] std::string HookMacro(const Model &model, const Event &event, Shape shape,
                                    const Parameters &parameters);

}  // namespace genevent

#endif  // GENEVENT_MACRO_HPP_
