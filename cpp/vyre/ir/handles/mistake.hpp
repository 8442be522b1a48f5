// Mistakes that show when handles are resolved: operators of Python and integers that have no meaning on the types where they stand.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/base/id.hpp"
#include "vyre/ir/fwd.hpp"
#include "vyre/ir/node.hpp"
#include "vyre/ir/number.hpp"

namespace vyre::ir {

// An operator or an integer that has no meaning where it stands (V039).
struct Mistake {
  enum class Kind : std::uint8_t {
    Operands,   // `left` and `right` are of two types
    Undefined,  // `op` is not defined on `left`
    Literal,    // `number` is no value of `left`
    Truth,      // `~` of a truth
    Amount,     // the amount of a shift is of type `left`
  };

  Kind kind;
  std::optional<Infix> op{};  // nothing for an integer
  DataType left = kU32, right = kU32;
  Number number{};
  NodeId statement{};
  ExprId expr{};  // what the program has in place of the operator; for an integer, the integer
};

}  // namespace vyre::ir
