// What searches over a kernel have in common: its places, which are the arrays and variables that hold one value after the other, and the
// opcodes that it has.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// How many places there are: buffers, shared arrays, private arrays and variables.
std::size_t place_count(const lower::Kernel& kernel);

// The place that an instruction reads or writes.
std::optional<std::size_t> place_of(const lower::Kernel& kernel, const lower::Instruction& it);

// The value that a store or WriteVariable writes to its place. Nothing for an atomic, whose new value no compiler knows.
inline std::optional<lower::ValueId> written_value(const lower::Instruction& it) {
  switch (it.op) {
    case lower::Opcode::WriteVariable:
      return it.a;
    case lower::Opcode::StoreBuffer:
    case lower::Opcode::StoreShared:
    case lower::Opcode::StorePrivate:
      return it.b;
    default:
      return std::nullopt;
  }
}

// Whether two values may be one, as the same sum of the same loads.
bool may_be_alike(const lower::Kernel& kernel, lower::ValueId one, lower::ValueId other);

// The values that And and Or join to a condition; of many, some.
std::vector<lower::ValueId> parts_of(const lower::Kernel& kernel, lower::ValueId condition);

// Which opcodes a kernel has, by their position in the table: most searches end with this.
using Opcodes = std::array<bool, std::size(lower::kOpcodes)>;
Opcodes opcodes_of(const lower::Kernel& kernel);
constexpr bool has(const Opcodes& opcodes, lower::Opcode op) { return opcodes[static_cast<std::size_t>(op)]; }

// Goes over a kernel until a pass finds no more about a place, which `pass` tells. In a loop, a place may be read in front of what writes
// it. Nests of loops need a few passes; where a kernel needs many, all places get `most`, the most that there is to find.
template <class T>
void find_places(std::vector<T>& places, T most, const Opcodes& opcodes, auto pass) {
  constexpr int kMostPasses = 16;
  for (int passes = 0; pass() && has(opcodes, lower::Opcode::Loop); ++passes) {
    if (passes == kMostPasses) places.assign(places.size(), most);
  }
}

// Whether the operands alone decide the result.
constexpr bool is_computed(lower::Opcode op) {
  return is_lanewise(op) || op == lower::Opcode::Select || op == lower::Opcode::Lane || op == lower::Opcode::Pack;
}

}  // namespace vyre::emit
