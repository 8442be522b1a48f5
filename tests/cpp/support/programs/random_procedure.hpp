// Makes random procedures without regard to sense: any size anywhere, names of every kind, valid or not, but such that every form can hold
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vyre/ir/procedures/procedure.hpp"

namespace vyre::test {

// The same procedure for the same seed, on every machine. `steps` is about the number of its steps, `levels` how deep invocations may nest.
ir::Procedure random_procedure(std::uint64_t seed, std::size_t steps, std::uint32_t levels = 2);

// Every kind of array, size, grid and step, and awkward names, in a few lines.
ir::Procedure sample_procedure();

}  // namespace vyre::test
