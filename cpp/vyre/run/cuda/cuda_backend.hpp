// Declares the class of the CUDA backend, for tests that supply a driver, and for the bindings, which exchange memory with other libraries.
// See backend.hpp for how it works.
#pragma once

#include "vyre/run/cuda/backend.hpp"
#include "vyre/run/cuda/calls/storage.hpp"
#include "vyre/run/cuda/devices/devices.hpp"
#include "vyre/run/gpu/gpu_backend.hpp"

namespace vyre::run::cuda {

class CudaBackend final : public GpuBackend<Devices, CudaStorage, DeviceError> {
 public:
  explicit CudaBackend(FindLibrary find = system_library, Options options = {}) : GpuBackend(std::move(find), std::move(options)) {}

  std::string_view name() const override { return "cuda"; }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                      const Optimize& options = {}, const RunOptions& waiting = {}) override;
  std::shared_ptr<Recording> record(CallsToRecord calls, const RunOptions& waiting = {},
                                    std::span<const StorageView> expected = {}) override;
  // Returns the index of the device that has the memory at `address`. Throws ArgumentError if no device has it.
  std::size_t device_of(CUdeviceptr address) { return devices_->device_of(address); }
  // Makes an array from memory of another library on the device, without a copy.
  std::unique_ptr<CudaStorage> adopt(std::size_t device, ForeignMemory memory) {
    return std::make_unique<CudaStorage>(devices_->open(device), std::move(memory));
  }
};

}  // namespace vyre::run::cuda
