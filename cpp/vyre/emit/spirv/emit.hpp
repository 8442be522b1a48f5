// Emits a Kernel as SPIR-V 1.5 words: deterministic, without names and lines. emit/interface.hpp describes the shader's interface.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vyre/emit/spirv/options.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::spirv {

std::vector<std::uint32_t> emit(const lower::Kernel& kernel, const Options& options = {});
// The number of loop rounds that an invocation takes to zero workgroup and private memory, counted as lower::most_rounds does.
std::uint64_t zeroing_rounds(const lower::Kernel& kernel);

// By SPIRV-Tools. Returns what makes the words invalid for Vulkan 1.2, or the empty string if they are valid.
std::string validation_error(std::span<const std::uint32_t> words);
// By SPIRV-Tools. Returns the assembly text, or the empty string if the words are no module.
std::string disassemble(std::span<const std::uint32_t> words);

}  // namespace vyre::spirv
