// The table that every backend is held against in C++: programs, what goes in, and what must come out, written from the documents and
// never from a run. Element-wise programs with few accesses, because software drivers are slow to compile anything else. vyre.conformance
// holds what these do not.
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

// Operators at edge values, casts, atomics in and out of bounds, lanes, a reduction with barriers.
const std::vector<ConformanceCase>& conformance_cases();

}  // namespace vyre::test
