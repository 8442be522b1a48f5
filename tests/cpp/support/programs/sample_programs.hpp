// Programs by name, for tests of what must hold for every program. Not all are valid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vyre/ir/program.hpp"

namespace vyre::test {

struct SampleProgram {
  std::string name;
  ir::Program program;
};

// Together they hold every kind of expression and statement, every operator, type, access mode and grid id, sharing within
// and across statements, and the awkward names.
const std::vector<SampleProgram>& sample_programs();

// out[i] = left[i] ^ right[i], guarded: valid.
ir::Program xor_program();

// The scale programs of the issue.
ir::Program chain(std::uint32_t length);         // out[0] = 1 + 1 + ... + 1, `length` operators deep
ir::Program doublings(std::uint32_t count);      // x = x + x, `count` times over one literal
ir::Program nested_blocks(std::uint32_t depth);  // block { block { ... } }
ir::Program wide_program(std::uint32_t exprs);   // that many expressions, a few in each statement

}  // namespace vyre::test
