// Random programs that keep every rule, and the operations that they call.
#pragma once

#include <cstdint>

#include "support/programs/choices.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::test {

// Straight-line bodies, bodies with loops and branches, parameters that are ignored or assigned, operations that call others.
const ir::OpTable& sample_ops();

// The same program for the same seed, on every machine. `size` is about the number of statements. It calls sample_ops() and has:
// reads and writes in and out of bounds, atomics in every place, barriers, returns, sharing within and across statements.
// Buffers, in order of their slots: see valid_program_lengths. Invocations race, so only an interpreter gives repeatable bytes.
ir::Program random_valid_program(std::uint64_t seed, std::size_t size);
// The one that the choices lead to.
ir::Program random_valid_program(Choices choices, std::size_t size);

}  // namespace vyre::test
