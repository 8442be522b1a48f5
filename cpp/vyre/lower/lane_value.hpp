// Computes an operator of opcodes.def, by its column `value`.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/lower/opcode.hpp"

namespace vyre::lower {

// Returns a lane of the result, or nothing for an opcode without that column.
std::optional<std::uint32_t> lane_value(Opcode op, std::uint32_t a, std::uint32_t b, std::uint32_t c);

}  // namespace vyre::lower
