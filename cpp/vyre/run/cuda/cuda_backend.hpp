// Declares the class of the CUDA backend, for tests that supply a driver, and for the bindings, which exchange memory with other libraries.
// See backend.hpp for how it works.
#pragma once

#include "vyre/run/cuda/backend.hpp"
#include "vyre/run/cuda/calls/storage.hpp"
#include "vyre/run/cuda/devices/devices.hpp"

namespace vyre::run::cuda {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(FindLibrary find = system_library, Options options = {});

  std::string_view name() const override { return "cuda"; }
  std::vector<std::string> reasons_unavailable() override;
  std::vector<DeviceInfo> devices() override;
  void try_devices() override;
  std::size_t default_device() override { return devices_->choose(); }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                      const Optimize& options = {}, const RunOptions& waiting = {}) override;
  std::unique_ptr<Storage> allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) override;
  std::shared_ptr<Recording> record(CallsToRecord calls, const RunOptions& waiting = {},
                                    std::span<const StorageView> expected = {}) override;
  void check_nothing_is_abandoned(std::size_t device) override;
  void abandon(std::size_t device) override;
  // Returns the index of the device that has the memory at `address`. Throws ArgumentError if no device has it.
  std::size_t device_of(CUdeviceptr address) { return devices_->device_of(address); }
  // Makes an array from memory of another library on the device, without a copy.
  std::unique_ptr<CudaStorage> adopt(std::size_t device, ForeignMemory memory);
  // Waits until the device has done the calls that timed out on it; false if that takes longer than `seconds`.
  bool wait_until_idle(std::size_t device, double seconds);

 private:
  std::shared_ptr<Devices> devices_;
};

}  // namespace vyre::run::cuda
