// The kernels of a program on a device: a plain one for any grid, and for large grids one of which an invocation does the work of several
// (transform::coarsen).
#pragma once

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
  Ready ready(Grid grid);

 private:
  bool wants_coarse(const Device& device, Grid grid) const;
  const Shader* coarse_shader();

  const std::shared_ptr<Devices> devices_;
  const std::size_t index_;
  const std::optional<validate::ValidProgram> program_;
  const PrepareOptions options_;
  const Shader plain_;
  std::mutex mutex_;
  bool tried_coarse_ = false;
  std::optional<Shader> coarse_;
  Ready ready_;
};

}  // namespace vyre::run::vulkan
