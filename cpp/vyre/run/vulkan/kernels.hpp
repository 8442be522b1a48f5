// The kernels of a program on a device: a plain one for any grid, and for large grids one of which an invocation does the work of several
// (transform::coarsen). And the same two once more for arrays that are larger than what the device can bind, which reach all arrays through
// their addresses: nothing but an address has 64 bits.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/devices.hpp"
#include "vyre/run/vulkan/pipeline.hpp"
#include "vyre/run/vulkan/shader.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::vulkan {

// Makes each kernel when it is first needed, and anew when its device was lost. Safe from every thread.
class KernelSource {
 public:
  // A shader for any grid. Throws what opening the device and compiling throw, as all others do.
  KernelSource(std::shared_ptr<Devices> devices, std::size_t device, Shader shader);
  KernelSource(std::shared_ptr<Devices> devices, std::size_t device, const validate::ValidProgram& program, const PrepareOptions& options);

  struct Ready {
    std::shared_ptr<Device> device;
    Kernels kernels;  // destroyed before their device
  };
  // For a call whose largest array takes so many bytes of the device; 0 for one without arrays.
  Ready ready(Grid grid, std::uint64_t largest);

 private:
  // What reaches arrays in one way.
  struct Variant {
    std::optional<Shader> plain, coarse;
    bool tried_coarse = false;
    Kernels kernels;
  };
  bool wants_addresses(const Device& device, std::uint64_t largest) const;
  bool wants_coarse(const Device& device, const Variant& variant, Grid grid) const;

  const std::shared_ptr<Devices> devices_;
  const std::size_t index_;
  const ProfiledProgram program_;
  const PrepareOptions options_;
  std::mutex mutex_;
  std::shared_ptr<Device> device_;
  std::array<Variant, 2> variants_;  // bound and addressed; destroyed before the device
};

}  // namespace vyre::run::vulkan
