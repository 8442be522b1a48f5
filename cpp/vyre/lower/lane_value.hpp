// What an opcode gives for numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/lower/opcode.hpp"

namespace vyre::lower {

// Returns a lane of the result, or nothing for an opcode whose operands alone do not decide it.
std::optional<std::uint32_t> lane_value(Opcode op, std::uint32_t a, std::uint32_t b, std::uint32_t c);

}  // namespace vyre::lower
