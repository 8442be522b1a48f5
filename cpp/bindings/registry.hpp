// The operations of this process: the standard ones and what users registered. Validation works on a snapshot.
#pragma once

#include <cstdint>

#include "vyre/ir/op_spec.hpp"

namespace vyre::python {

struct OpSnapshot {
  ir::OpTable table;
  std::uint64_t generation = 0;  // grows with each registration; snapshots of one generation are equal
};

OpSnapshot registered_ops();
// Throws ValidationError (a body that breaks rules) or ArgumentError (another body under this id and version).
void register_op(ir::OpTable::Spec spec);

}  // namespace vyre::python
