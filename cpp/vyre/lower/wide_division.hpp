// Lowers quotients and remainders of U64, which are operations of the IR.
#pragma once

#include "vyre/lower/target.hpp"
#include "vyre/lower/writer.hpp"
#include "vyre/transform/wide_divisions.hpp"

namespace vyre::lower {

// Returns a // b or a % b; a // 0 = a % 0 = 0. A target that lacks Opcode::WideDiv divides by literals only. `both` says that the program
// also has the quotient of these operands, of which a remainder is then made.
ValueId lower_wide_division(Writer& writer, const Target& target, transform::Division division, ValueId a, ValueId b, bool both);

}  // namespace vyre::lower
