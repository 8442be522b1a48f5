// Emits a Kernel that was lowered for kPtxTarget as PTX: deterministic text without names of the user, of ISA version 7.0 for sm_75. A
// driver of CUDA 11.0 or newer loads it, and compiles it for its GPU, of compute capability 7.5 or higher. code.hpp describes the interface
// between the code and its loader.
#pragma once

#include "vyre/emit/ptx/code.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::ptx {

Code emit(const lower::Kernel& kernel, const Options& options = {});

// Returns the text with a directive that limits the registers of an invocation, so that a multiprocessor has enough of them for so many
// workgroups at once.
std::string with_resident(std::string text, std::uint32_t workgroups);

}  // namespace vyre::ptx
