// Replaces operators by operations. A target that cannot compute an operator exactly evaluates the body of an operation instead.
#pragma once

#include <span>
#include <string_view>

#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::transform {

struct OperatorBody {
  ir::AnyOp op;
  std::string_view operation;  // its id in the table; its parameters and its result have the types of the operator
};

// `program` has no Calls, nor has the result. No body may contain an operator that `bodies` replaces. A program without any of these
// operators is returned as it is. Throws LoweringError when the result would outgrow V018 or V019, as inline_calls does.
validate::ValidProgram replace_operators(const validate::ValidProgram& program, std::span<const OperatorBody> bodies,
                                         const ir::OpTable& operations);

}  // namespace vyre::transform
