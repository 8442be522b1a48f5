// Lowers operators and casts: each becomes an opcode of the target or an expansion into several opcodes. The rules of the IR for
// division, shifts, rotations and counts of zero bits are written out here, so that no emitter needs them.
#pragma once

#include <cstdint>

#include "vyre/ir/semantics.hpp"
#include "vyre/lower/target.hpp"
#include "vyre/lower/writer.hpp"

namespace vyre::lower {

// `lanes` are those of the result.
ValueId lower_operator(Writer& writer, const Target& target, std::uint8_t lanes, ir::BinOp op, ValueId a, ValueId b);
ValueId lower_operator(Writer& writer, const Target& target, std::uint8_t lanes, ir::UnOp op, ValueId a);
ValueId lower_operator(Writer& writer, const Target& target, std::uint8_t lanes, ir::TernOp op, ValueId a, ValueId b, ValueId c);
// `lanes` is the number of lanes of the value that is cast.
ValueId lower_cast(Writer& writer, const Target& target, ir::CastKind kind, ValueId value, std::uint32_t lanes, ir::DataType type);

}  // namespace vyre::lower
