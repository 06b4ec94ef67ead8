// SPDX-License-Identifier: MIT
// Which values of a pad stay in registers, and what the compiler must be told that the hook reads.
#ifndef GENEVENT_OPERANDS_HPP_
#define GENEVENT_OPERANDS_HPP_

#include <cstdint>
#include <string>
#include <vector>

namespace genevent {

// One value of a map record.
struct Operand {
  char type = 'u';
  uint32_t size = 8;
  std::string name;
  std::string variable;
  bool pointer = false;  // read behind
};

struct PadOperands {
  std::vector<std::string> arguments;  // GKHI_ARG(...), GKHI_ARG_AT(...)
  std::vector<std::string> operands;   // [name] "nr"(variable)
  std::vector<std::string> block;      // words of the block in memory
  std::string reads;                   // GKHI_READS(...) ...
  bool barrier = false;                // too many pointers to name each
};

[[nodiscard]] PadOperands AssignOperands(const std::vector<Operand> &values);

struct Reads {
  std::string row;  // GKHI_NO_READS or GKHI_READS(...) ...
  bool barrier = false;
};

[[nodiscard]] Reads MakeReads(const std::vector<std::string> &pointers);

}  // namespace genevent

#endif  // GENEVENT_OPERANDS_HPP_
