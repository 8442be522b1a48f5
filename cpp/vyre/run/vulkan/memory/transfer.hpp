// Bytes between the host and device memory that it cannot reach: through staging memory, a chunk after the other, by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/memory/buffer.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

class VulkanStorage;

// Staging memory for one chunk, and the commands of its copy. The device keeps them for the next transfer.
class Chunk final : public Retired {
 public:
  explicit Chunk(Device& device);

  Commands commands;
  Buffer staging;
  std::uint64_t last_use = 0;  // a moment of the stream
};

// Returns when `from` is no longer needed; the device copies later.
void upload(Device& device, std::span<const std::byte> from, VulkanStorage& to, std::uint64_t offset, const RunOptions& options);
void download(Device& device, VulkanStorage& from, std::uint64_t offset, std::span<std::byte> to, const RunOptions& options);
// Makes it zeros.
void clear(Device& device, VulkanStorage& storage);

}  // namespace vyre::run::vulkan
