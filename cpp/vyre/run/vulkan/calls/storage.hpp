// Storage in a device's memory.
#pragma once

#include <atomic>
#include <list>
#include <memory>

#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/memory/host_mirror.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

class VulkanStorage final : public Storage {
 public:
  // Throws DeviceMemoryError, and CapabilityError for more than the device gives at once.
  VulkanStorage(std::shared_ptr<Device> device, std::uint64_t bytes, bool zeroed);
  ~VulkanStorage() override;

  std::uint64_t bytes() const override { return bytes_; }
  std::uint64_t id() const override { return block().id; }
  void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) override;
  void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) override;
  void wait(const RunOptions& options) override;

  Device& device() const { return *device_; }
  const Block& block() const;
  // Throws in a forked child, when the device was lost, and what a failed call left.
  void check_usable() const;
  // What is known of its bytes; null for a large one.
  Contents* contents() const { return contents_.get(); }
  // The device works with it until that moment. Told in the order of the stream.
  void used_until(std::uint64_t moment) { raise(last_use_, moment); }

 private:
  // Throws in a forked child, and when the device was lost.
  void check_reachable() const;

  // Of a small one, between two submissions; whether the device was done with it.
  bool write_if_unused(std::byte* mapped, std::uint64_t offset, std::span<const std::byte> from);

  const std::shared_ptr<Device> device_;
  const std::uint64_t bytes_;
  class Held;
  std::unique_ptr<Held> held_;
  std::unique_ptr<Contents> contents_;
  std::atomic<std::uint64_t> last_use_ = 0;
};

}  // namespace vyre::run::vulkan
