// The process-wide registry of operations. It starts with the standard library and is open: operations are added at run time.
#pragma once

#include <cstdint>
#include <string_view>

#include "vyre/ir/op_spec.hpp"

namespace vyre::run {

// Later registrations do not change a snapshot. All functions of this file may be called from every thread.
struct OpSnapshot {
  ir::OpTable table;
  std::uint64_t generation = 0;  // grows with each new operation: snapshots of one generation are equal
};
OpSnapshot op_snapshot();
// The generation that a snapshot would have now.
std::uint64_t op_generation();
ir::OpTable registered_ops();

// The operation of this id (`id` or `id@version`). Throws ArgumentError when there is none.
ir::OpTable::Spec registered_op(std::string_view id);

// Adds an operation; adding the same one again changes nothing. Throws ArgumentError for a bad id or version, or when this id and version
// has a different body; ValidationError for a body or a procedure that breaks rules. Operations that the body calls may be registered
// later: unknown operations, and calls that are nested too deeply, are reported when a program calls the operation (V016, V017).
ir::OpTable::Spec register_op(ir::OpSpec spec);

}  // namespace vyre::run
