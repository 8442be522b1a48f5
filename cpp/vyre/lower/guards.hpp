// Makes out-of-bounds accesses, division, shifts, counts of zero bits and stored truth values explicit, so that no emitter needs
// a rule. Nothing else in lower/ knows these rules.
#pragma once

#include "vyre/ir/data_type.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/writer.hpp"

namespace vyre::lower {

// Where elements lie: a buffer slot or a shared array of the kernel.
struct Memory {
  bool shared = false;
  std::uint32_t index = 0;
  ir::DataType element = ir::DataType::U32;
};

ValueId lower_binary(Writer& writer, ir::BinOp op, ValueId a, ValueId b);
ValueId lower_unary(Writer& writer, ir::UnOp op, ValueId a);
// `lanes` are those of the value that is cast.
ValueId lower_cast(Writer& writer, ir::CastKind kind, ValueId value, std::uint32_t lanes, ir::DataType target);

ValueId lower_length(Writer& writer, const Memory& memory);
ValueId lower_load(Writer& writer, const Memory& memory, ValueId index);
void lower_store(Writer& writer, const Memory& memory, ValueId index, ValueId value);
// `expected` is invalid, except for CompareExchange.
ValueId lower_atomic(Writer& writer, ir::AtomicOp op, const Memory& memory, ValueId index, ValueId expected, ValueId value);

// From here on the condition holds, or does not hold: a guard that this proves is left out.
void assume(Writer& writer, ValueId condition);
void assume_not(Writer& writer, ValueId condition);

}  // namespace vyre::lower
