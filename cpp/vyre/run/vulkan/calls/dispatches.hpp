// Records the dispatches of a call, and builds the table of addresses that its shader may read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/gpu/grid_parts.hpp"
#include "vyre/run/vulkan/calls/dispatch_counts.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"

namespace vyre::run::vulkan {

// Records a dispatch for each part of a grid from `first` up to, but not including, `end`. `constants` are the shader's push constants; the
// first three are set to the workgroup at which a part begins. If `counts` is not null, it says how many workgroups of each part run.
void record_parts(Commands& commands, const Kernels& kernels, VkDescriptorSet set, std::span<std::uint32_t> constants,
                  const GridParts& parts, std::uint64_t first, std::uint64_t end, const DispatchCounts* counts = nullptr);

// Appends an address to the table that a shader with Shader::addressed reads: see emit/interface.hpp.
void append_address(std::vector<std::uint32_t>& words, std::uint64_t address);

}  // namespace vyre::run::vulkan
