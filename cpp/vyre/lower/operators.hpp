// Lowers operators and casts: each becomes an opcode of the target or an expansion into several opcodes. The rules of the IR for
// division, shifts, rotations and counts of zero bits are written out here, so that no emitter needs them.
#pragma once

#include <cstdint>

#include "vyre/ir/semantics.hpp"
#include "vyre/lower/target.hpp"
#include "vyre/lower/writer.hpp"

namespace vyre::lower {

ValueId lower_binary(Writer& writer, const Target& target, ir::BinOp op, ValueId a, ValueId b);
ValueId lower_unary(Writer& writer, const Target& target, ir::UnOp op, ValueId a);
// `lanes` is the number of lanes of the value that is cast.
ValueId lower_cast(Writer& writer, const Target& target, ir::CastKind kind, ValueId value, std::uint32_t lanes, ir::DataType type);

}  // namespace vyre::lower
