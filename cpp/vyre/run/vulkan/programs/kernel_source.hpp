// Makes the kernels of a program on a device. A program has up to one kernel for each combination of these properties, made on first use:
//
//   words of Uniform buffers   any | specialised for words that come often (Specialization), up to Specialization::kMost sets of them
//   access to arrays           bound | by address, for arrays larger than what the device can bind
//   grid                       plain | coarsened, where an invocation does the work of several (transform::coarsen), for large grids
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/host/shared_access.hpp"
#include "vyre/run/specialization.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"
#include "vyre/run/vulkan/devices/devices.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::vulkan {

// Makes all kernels anew after the device was lost. Any thread may call any function.
class KernelSource {
 public:
  // The first constructor takes a shader, which then runs every grid. Both constructors, and ready(), throw what opening the device and
  // compiling throw.
  KernelSource(std::shared_ptr<Devices> devices, std::size_t device, Shader shader, const RunOptions& waiting);
  KernelSource(std::shared_ptr<Devices> devices, std::size_t device, const validate::ValidProgram& program, const Optimize& options,
               const RunOptions& waiting);

  struct Ready {
    std::shared_ptr<Device> device;
    Kernels kernels;  // destroyed before their device
  };
  // The kernels for a call whose largest array takes `largest` bytes of the device; 0 for a call without arrays. `special` is the result
  // of choose(): the kernels for these words are used if they can be compiled within `waiting`, otherwise the kernels for any words.
  Ready ready(Grid grid, std::uint64_t largest, std::optional<std::size_t> special, const RunOptions& waiting);

  // The parts of Uniform buffers whose words can select kernels.
  std::span<const Specialization::Part> parts() const;
  // Counts `calls` calls with these words. Returns the number of the kernels for these words once their calls pay for the kernels.
  std::optional<std::size_t> choose(const Specialization::Words& words, Grid grid, std::uint64_t calls);
  // Does the same for one call with the words in these buffers.
  std::optional<std::size_t> choose(std::span<const BufferView> buffers, Grid grid);

 private:
  // The kernels that access arrays in one way: through bindings, or through addresses.
  struct Variant {
    std::optional<Shader> plain, coarse;
    bool tried_coarse = false;  // a program may have no coarsened kernel
    Kernels kernels;
  };
  // The kernels for any words, or those specialised for one set of words.
  struct Family {
    ProfiledProgram program;
    std::array<Variant, 2> variants;  // bound and addressed
    bool given_up = false;            // compiling them failed
  };
  // Called by the one call that has its turn to compile.
  Ready made(Grid grid, std::uint64_t largest, std::optional<std::size_t> special, const RunOptions& waiting);
  bool wants_addresses(const Context& context, std::uint64_t largest) const;
  bool wants_coarse(const Context& context, const Variant& variant, Grid grid) const;

  const std::shared_ptr<Devices> devices_;
  const std::size_t index_;
  const ProfiledProgram program_;
  const Optimize options_;
  std::optional<Specialization> specialization_;  // empty if the kernels come from a shader
  std::atomic<bool> on_processor_ = false;
  // Held while a driver compiles. Another call waits for it until its own time-out.
  SharedAccess compiling_;
  std::shared_ptr<Device> device_;
  // The kernels must be destroyed before the device, so this member follows device_. The first family is for any words.
  std::array<Family, 1 + Specialization::kMost> families_;
};

}  // namespace vyre::run::vulkan
