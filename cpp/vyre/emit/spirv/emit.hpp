// Kernel -> SPIR-V 1.5 words: deterministic, no names, no lines. The shader interface is written down in emit/interface.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::spirv {

struct Options {
  // For drivers that end loops silently: after each loop its condition is tested again, and a cut loop sets the status word.
  bool check_loops = false;
  // Storage buffers are reached through their addresses, of which devices bind no more than a range: see kernels.hpp.
  bool addresses = false;
};

std::vector<std::uint32_t> emit(const lower::Kernel& kernel, const Options& options = {});
// How many loop rounds an invocation takes to zero workgroup memory, counted as lower::most_rounds does.
std::uint64_t zeroing_rounds(const lower::Kernel& kernel);

// SPIRV-Tools: the empty string when the words are valid for Vulkan 1.2, else what is wrong; and the assembly text.
std::string validation_error(std::span<const std::uint32_t> words);
std::string disassemble(std::span<const std::uint32_t> words);

}  // namespace vyre::spirv
