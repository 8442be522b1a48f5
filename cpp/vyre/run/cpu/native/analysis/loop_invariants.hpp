// Moves values that do not change in a loop to the place before it, in a kernel for which machine code is made.
//
// Lowering makes a value where it is first needed, which is often in a loop although its operands come from outside. Kernels stay as they
// are for everything else: the pass works on a copy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::run::cpu::native {

struct Hoisted {
  lower::Kernel kernel;
  std::vector<std::uint32_t> origin;  // by instruction: its position in the kernel that was given
};

// Nothing when no instruction moves.
std::optional<Hoisted> hoist_loop_invariants(const lower::Kernel& kernel);

}  // namespace vyre::run::cpu::native
