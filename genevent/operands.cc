// SPDX-License-Identifier: MIT
// Register budget of a pad.
//
// x86-64 leaves 14 registers to an asm statement that keeps its frame pointer. A pointer that is read behind
// takes two at -O0: its value and the address of its "m" operand. One is kept for the block that holds the
// rest.
#include "operands.hpp"

#include <fmt/format.h>

namespace genevent {
namespace {

constexpr size_t kRegisters = 10;
constexpr size_t kNamedReads = 5;

}  // namespace

PadOperands AssignOperands(const std::vector<Operand> &values) {
  PadOperands out;
  size_t used = 0;
  for (const Operand &value : values) {
    const size_t cost = value.pointer ? 2 : 1;
    if (used + cost <= kRegisters) {
      used += cost;
      out.arguments.push_back(fmt::format("GKHI_ARG(\"{}\", {}, \"{}\", {})", value.type, value.size,
                                          value.name, value.variable));
      out.operands.push_back(fmt::format("[{0}] \"nr\"({0})", value.variable));
      if (value.pointer)
        out.reads += fmt::format("{}GKHI_READS({})", out.reads.empty() ? "" : " ", value.variable);
      continue;
    }
    out.arguments.push_back(fmt::format("GKHI_ARG_AT(\"{}\", {}, \"{}\", gkhi_block, {})", value.type,
                                        value.size, value.name, out.block.size() * 8));
    const bool address = value.pointer || value.type == 'p';
    out.block.push_back(fmt::format("(uint64_t){}{}", address ? "(uintptr_t)" : "", value.variable));
    out.barrier |= value.pointer;
  }
  if (!out.block.empty()) {
    out.operands.emplace_back("[gkhi_block] \"r\"(gkhi_block)");
    out.operands.push_back(fmt::format("\"m\"(*(const uint64_t (*)[{}])gkhi_block)", out.block.size()));
  }
  return out;
}

Reads MakeReads(const std::vector<std::string> &pointers) {
  Reads out;
  if (pointers.empty()) return {.row = "GKHI_NO_READS", .barrier = false};
  if (pointers.size() > kNamedReads) return {.row = "GKHI_NO_READS", .barrier = true};
  for (const std::string &pointer : pointers) {
    out.row += fmt::format("{}GKHI_READS({})", out.row.empty() ? "" : " ", pointer);
  }
  return out;
}

}  // namespace genevent
