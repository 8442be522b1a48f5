// Tells kernels whose time is the latency of one gather after the other.
#pragma once

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis.hpp"

namespace vyre::run::cpu::native {

// Whether a loop gathers from places that words of another gather decide, as a walk over the table of an automaton does. `analysis` has the
// uniformity and the strides.
bool chains_gathers(const lower::Kernel& kernel, const Analysis& analysis);

}  // namespace vyre::run::cpu::native
