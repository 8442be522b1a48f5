// The places of a kernel that hold several values one after the other: its arrays, and its variables.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>

#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// How often a search follows what is kept in places from one to the next. Nests of loops need a few; a kernel that needs more is taken for
// one with everything that is searched for.
constexpr int kMostPasses = 16;

// How many places there are: buffers, shared arrays, private arrays and variables.
std::size_t place_count(const lower::Kernel& kernel);

// The place that an instruction reads or writes.
std::optional<std::size_t> place_of(const lower::Kernel& kernel, const lower::Instruction& it);

// What an instruction writes to its place. No atomic is one: its old value is of the place, and its new one is known to nobody.
std::optional<lower::ValueId> written_value(const lower::Instruction& it);

// Which opcodes a kernel has, by their position in the table: most searches end with this.
using Opcodes = std::array<bool, std::size(lower::kOpcodes)>;
Opcodes opcodes_of(const lower::Kernel& kernel);
constexpr bool has(const Opcodes& opcodes, lower::Opcode op) { return opcodes[static_cast<std::size_t>(op)]; }

// Whether the operands alone decide the result.
bool is_computed(lower::Opcode op);

}  // namespace vyre::emit
