// Implements run::Storage, an array that stays on a device, with a block of the device's pool or with memory of another library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/cuda/device.hpp"
#include "vyre/run/gpu/device_storage.hpp"

namespace vyre::run::cuda {

// Memory of another library on a device. `owner` keeps it alive.
struct ForeignMemory {
  CUdeviceptr address = 0;
  std::uint64_t bytes = 0;
  std::shared_ptr<void> owner;
};

class CudaStorage final : public DeviceStorage<Device> {
 public:
  // Throws DeviceMemoryError, and CapabilityError for an array larger than the device's memory.
  CudaStorage(std::shared_ptr<Device> on, std::uint64_t bytes, bool zeroed);
  CudaStorage(std::shared_ptr<Device> on, ForeignMemory memory);
  ~CudaStorage() override;

  std::uint64_t id() const override { return id_; }
  void write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) override;
  void read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) override;

  CUdeviceptr address() const { return address_; }
  // Reports that another library may use the memory from now on, on streams that this backend does not know. The destructor then waits
  // until the device is idle.
  void share() { shared_ = true; }
  // Makes this device's stream wait for all work that was submitted to a stream of another library until now.
  void wait_for(CUstream other);
  // Makes a stream of another library wait for all work that was submitted to this device's stream until now.
  void let_wait(CUstream other);

 private:
  const std::uint64_t id_;
  Block block_;  // empty for memory of another library
  class Owner;
  std::unique_ptr<Owner> owner_;  // of memory of another library, else null
  const CUdeviceptr address_;
  std::atomic<bool> shared_ = false;
};

// The arrays of calls are CudaStorages.
inline CudaStorage& storage_of(const StorageView& view) { return static_cast<CudaStorage&>(*view.storage); }

// Reports that a submission uses these arrays. Called in the order of the stream.
void use(std::span<const StorageView> views, TimelineValue value);
// Called in a catch clause: reports that a call failed which was to write the arrays that `written` names.
void fail_written(std::span<const StorageView> views, const std::vector<bool>& written);

}  // namespace vyre::run::cuda
