// Finds the buffers whose stores need not go through the caches.
#pragma once

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis.hpp"

namespace vyre::run::cpu::native {

// Fills in found.streamed and found.waits_for_memory. A buffer is streamed if one store outside of loops writes it and nothing else
// accesses it: each of its elements is in use once.
void find_streamed_buffers(const lower::Kernel& kernel, Analysis& found);

}  // namespace vyre::run::cpu::native
