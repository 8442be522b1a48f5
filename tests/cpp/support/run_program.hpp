// Runs a program on a backend with arrays of words, for tests that look at results.
#pragma once

#include <cstdint>
#include <vector>

#include "support/words.hpp"
#include "vyre/ir/program.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::test {

// Throws ValidationError unless the program is valid with the registered operations.
validate::ValidProgram valid(const ir::Program& program, const validate::Options& options = {});

// One array for each bound buffer, in order of declaration. Gives them back as they are after the call.
std::vector<Words> run_program(run::Backend& backend, const validate::ValidProgram& program, std::vector<Words> arrays, run::Grid grid = {},
                               const run::RunOptions& options = {}, const run::Optimize& prepare = {});

// On the reference.
std::vector<Words> run_reference(const ir::Program& program, std::vector<Words> arrays, run::Grid grid = {},
                                 const validate::Options& options = {});

}  // namespace vyre::test
