// Finds loops that NVIDIA's compiler for Vulkan (driver 580) gets wrong. Where a Break or Return leaves a loop behind an If or Loop on the
// same way out, some invocations that left the inner statement early come to what follows the exit:
// `for a: if u { for b: { if v { break }; ... }; break }; x = 1` sets x though u is true. A hint against unrolling mends nearly all. One
// exit at the head, in place of several, mends the rest that are known. A loop of at most one turn was wrong with that exit, and right with
// the hint alone.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

enum class BranchedExits : std::uint8_t {
  None,
  OfOneTurn,  // no way through the body leads to another turn
  OfTurns,
};

// Returns what each instruction is, if it is a loop. The list is empty if no loop has such exits.
std::vector<BranchedExits> branched_exits(const lower::Kernel& kernel, const Opcodes& opcodes);

}  // namespace vyre::emit
