// Implements run::Storage, an array that stays on a device, with a block of the device's heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vyre/run/gpu/device_storage.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

// Keeps a copy of a small storage on the host, valid while only the host has written the storage. Through it, specialisation reads the
// words of Uniform buffers without waiting for the device.
//
// There is no lock: all functions are called in the order of the device's stream, from Stream::submit or Stream::in_order.
class HostMirror {
 public:
  // The size in bytes of the largest storage that has a mirror. The parameters of a program are only a few words.
  static constexpr std::uint64_t kMaxBytes = 4096;

  HostMirror(std::uint64_t bytes, bool zeros) : bytes_(bytes), valid_(zeros) {}

  // Returns nothing while the mirror is not valid.
  std::optional<std::span<const std::byte>> bytes() const {
    if (!valid_) return std::nullopt;
    return bytes_;
  }
  // A write of the whole storage makes the mirror valid again; a write of a part does not.
  void written_by_host(std::uint64_t offset, std::span<const std::byte> from) {
    std::copy(from.begin(), from.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    valid_ = valid_ || from.size() == bytes_.size();
  }
  void written_by_device() { valid_ = false; }

 private:
  std::vector<std::byte> bytes_;
  bool valid_;
};

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
