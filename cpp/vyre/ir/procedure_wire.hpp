// A procedure as bytes: versioned, compact, and one spelling a procedure, so that equal procedures have equal bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "vyre/ir/procedure.hpp"

namespace vyre::ir {

// The bytes of a procedure that the builder has just made; `Procedure::bytes` keeps them.
std::string written(const Procedure& procedure);

// Throws ParseError: "byte 12: <problem>. Fix: <action>."
Procedure procedure_from_bytes(std::span<const std::byte> bytes);

}  // namespace vyre::ir
