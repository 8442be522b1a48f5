// The table that every backend is held against: programs, what goes in, and what must come out, written from the documents and
// never from a run. Element-wise programs with few accesses, because software drivers are slow to compile anything else.
#pragma once

#include <string>
#include <vector>

#include "support/run_program.hpp"

namespace vyre::test {

struct ConformanceCase {
  std::string name;
  ir::Program program;
  std::vector<Words> given;     // of each bound buffer
  std::vector<Words> expected;  // likewise
  run::Grid grid;
};

// Operators at edge values, casts, out-of-bounds accesses, barriers, calls.
const std::vector<ConformanceCase>& conformance_cases();

}  // namespace vyre::test
