// An array that stays on a device: implements run::Storage with a block of the device's heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/memory/host_mirror.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

class VulkanStorage final : public Storage {
 public:
  // Throws DeviceMemoryError, and CapabilityError for an array larger than the device allows.
  VulkanStorage(std::shared_ptr<Device> device, std::uint64_t bytes, bool zeroed);
  ~VulkanStorage() override;

  std::uint64_t bytes() const override { return bytes_; }
  std::uint64_t id() const override { return block().id(); }
  void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) override;
  void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) override;
  void wait(const RunOptions& options) override;

  Device& device() const { return *device_; }
  const Block& block() const;
  // Throws in a forked process and after the device was lost. If a call that was to write this storage failed, throws that call's error.
  void check_usable() const;
  // Null for a storage larger than HostMirror::kMaxBytes.
  HostMirror* mirror() const { return mirror_.get(); }
  // Reports that a submission uses this storage. Called in the order of the stream.
  void used_until(TimelineValue value) { raise(last_use_, value); }

 private:
  // Throws in a forked process, and after the device was lost.
  void check_reachable() const;
  void upload(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options);
  // Writes a small storage between two submissions. Returns false, having done nothing, if the device may still use the storage.
  bool write_if_unused(std::byte* mapped, std::uint64_t offset, std::span<const std::byte> from);

  const std::shared_ptr<Device> device_;
  const std::uint64_t bytes_;
  struct Memory;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<HostMirror> mirror_;
  std::atomic<TimelineValue> last_use_ = 0;
};

inline VulkanStorage& storage_of(const StorageView& view) { return static_cast<VulkanStorage&>(*view.storage); }

}  // namespace vyre::run::vulkan
