// Runs a program under checks with arrays of words, for tests that look at findings.
#pragma once

#include <vector>

#include "support/run_program.hpp"
#include "vyre/run/checks/checked.hpp"

namespace vyre::test {

// Accepts what only V010 is against. `arrays` are what the program leaves.
run::Findings check_program(const ir::Program& program, std::vector<Words>& arrays, run::Grid grid = {},
                            const run::CheckOptions& checks = {}, run::Schedule schedule = {});

// In-order, reversed, and one at random.
const std::vector<run::Schedule>& all_schedules();

}  // namespace vyre::test
