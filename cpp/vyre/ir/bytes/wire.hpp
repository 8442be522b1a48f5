// A program as bytes: versioned, compact, and with one spelling for each program, so that equal programs have equal bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "vyre/ir/program.hpp"

namespace vyre::ir {

std::string to_bytes(const Program& program);

// from_bytes(to_bytes(p)) == p, and to_bytes(from_bytes(b)) == b: only what to_bytes writes is read.
// Throws ParseError: "byte 12: <problem>. Fix: <action>."
// Holds at most 64 bytes for a byte that is given, and 1 MiB, whatever the bytes say.
Program from_bytes(std::span<const std::byte> bytes);

}  // namespace vyre::ir
