#include "vyre/run/vulkan/calls/dispatches.hpp"

#include <algorithm>

namespace vyre::run::vulkan {

void record_parts(Commands& commands, const Kernels& kernels, VkDescriptorSet set, std::span<std::uint32_t> constants,
                  const GridParts& parts, std::uint64_t first, std::uint64_t end, const DispatchCounts* counts) {
  for (std::uint64_t index = first; index < end; ++index) {
    const GridPart part = parts[index];
    const Pipeline& pipeline = kernels.of(part.coarse);
    // The barrier orders the atomics of this part after those of the parts before it. A program that has a coarsened kernel has no atomics,
    // so it needs no barrier.
    if (index > 0 && kernels.coarse == nullptr) commands.order(kShader, kShader);
    std::copy(part.first.begin(), part.first.end(), constants.begin());
    if (index == first || part.coarse != parts[index - 1].coarse) {
      commands.bind(pipeline.handle(), pipeline.layout(), set);
      commands.push(pipeline.layout(), constants);
    } else {
      commands.push(pipeline.layout(), constants.first(3));
    }
    if (counts != nullptr) {
      commands.dispatch(counts->buffer(), counts->offset(index));
    } else {
      commands.dispatch(part.groups);
    }
  }
}

void append_address(std::vector<std::uint32_t>& words, std::uint64_t address) {
  words.push_back(static_cast<std::uint32_t>(address));
  words.push_back(static_cast<std::uint32_t>(address >> 32));
}

}  // namespace vyre::run::vulkan
