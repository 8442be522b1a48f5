// Emits a Kernel as SPIR-V 1.5 words: deterministic, without names and lines. emit/interface.hpp describes the shader's interface.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::spirv {

struct Options {
  // For drivers that end loops silently: the condition is tested again after each loop, and a loop that was cut sets the status word.
  bool check_loops = false;
  // Buffers are reached through their addresses, because devices can bind only a limited range of a large one.
  bool addresses = false;
};

std::vector<std::uint32_t> emit(const lower::Kernel& kernel, const Options& options = {});
// The number of loop rounds that an invocation takes to zero workgroup memory, counted as lower::most_rounds does.
std::uint64_t zeroing_rounds(const lower::Kernel& kernel);

// SPIRV-Tools: the empty string when the words are valid for Vulkan 1.2, else what is wrong; and the assembly text.
std::string validation_error(std::span<const std::uint32_t> words);
std::string disassemble(std::span<const std::uint32_t> words);

}  // namespace vyre::spirv
