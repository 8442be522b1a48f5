// Implements run::Storage, an array that stays on a device, with a block of the device's heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "vyre/run/gpu/device_storage.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/memory/host_mirror.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

class VulkanStorage final : public DeviceStorage<Device> {
 public:
  // Throws DeviceMemoryError, and CapabilityError for an array larger than the device allows.
  VulkanStorage(std::shared_ptr<Device> on, std::uint64_t bytes, bool zeroed);
  ~VulkanStorage() override;

  std::uint64_t id() const override { return block().id(); }
  void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) override;
  void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) override;

  const Block& block() const;
  // Null for a storage larger than HostMirror::kMaxBytes.
  HostMirror* mirror() const { return mirror_.get(); }

 private:
  void upload(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options);
  // Writes a small storage between two submissions. Returns false, having done nothing, if the device may still use the storage.
  bool write_if_unused(std::byte* mapped, std::uint64_t offset, std::span<const std::byte> from);

  struct Memory;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<HostMirror> mirror_;
};

inline VulkanStorage& storage_of(const StorageView& view) { return static_cast<VulkanStorage&>(*view.storage); }

}  // namespace vyre::run::vulkan
