// The expressions that Python's operators write. The explicit constructors know no types, with one exception: an operand that is visibly
// I32 (a literal, a cast, a signed operator) asks for the signed meaning, and then both must be.
#pragma once

#include "vyre/ir/handle.hpp"

namespace vyre::python {

bool visibly_i32(const ir::ExprHandle& expr);

// `symbol` is for messages. Throws ArgumentError when one operand only is visibly I32.
ir::ExprHandle infix(ir::BinOp op, const char* symbol, const ir::ExprHandle& left, const ir::ExprHandle& right, ir::SourcePlace place);
// Throws ArgumentError for `~` of what is visibly a truth value: all 32 bits flipped, it would be true either way.
ir::ExprHandle prefix(ir::UnOp op, const ir::ExprHandle& operand, ir::SourcePlace place);

}  // namespace vyre::python
