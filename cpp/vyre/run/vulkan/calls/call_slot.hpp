// Keeps slots for calls of host arrays. A slot has the command buffer, descriptor set and memory of one call, and is used again by later
// calls: a command buffer and a descriptor set cost more to make than a small program takes to run.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {

// One call at a time uses a slot. If the call ends before the device is done, the slot is retired to the stream.
struct CallSlot final : Retired {
  explicit CallSlot(Context& context) : commands(context) {}
  // Drops everything that belongs to the last call, except the command buffer and the descriptor set.
  void clear() noexcept;

  Commands commands;
  std::optional<DescriptorSet> set;
  Kernels kernels;
  std::vector<Block> arrays;   // on the device; if the shader uses addresses, the last block is the table of addresses
  std::vector<Block> staging;  // one block for each of `arrays`; empty if the host reaches device memory
  Block status;                // the status word; only for a shader that reports a status
  std::unique_ptr<Timestamps> timestamps;
};

// Any thread may call any function.
class CallSlots {
 public:
  explicit CallSlots(Context& context);

  std::unique_ptr<CallSlot> borrow();
  // For a slot that the device is done with.
  void give_back(std::unique_ptr<CallSlot> slot) noexcept;

 private:
  Context& context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CallSlot>> unused_;
};

}  // namespace vyre::run::vulkan
