// Makes the kernels of a program on a device. A kernel is one choice from each row, made on first use; a grid from data has no specialised
// kernels:
//
//   words of Uniform buffers   any | specialised for words that come often (Specialization), up to Specialization::kMost sets of them
//   grid                       plain | coarsened, where an invocation does the work of several | from data
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/calls/launch.hpp"
#include "vyre/run/cuda/compile/kernel.hpp"
#include "vyre/run/cuda/devices/devices.hpp"
#include "vyre/run/host/shared_access.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/specialization.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::cuda {

// Makes all kernels anew after the device was lost. Any thread may call any function.
class KernelSource {
 public:
  // The constructor, and the functions that give kernels, throw what opening the device and compiling throw.
  KernelSource(std::shared_ptr<Devices> devices, std::size_t device, const validate::ValidProgram& program, const Optimize& options,
               const RunOptions& waiting);

  struct Ready {
    std::shared_ptr<Device> device;
    Kernels kernels;  // destroyed before their device
  };
  // Returns the kernels for a grid by value. `special` is the result of choose(). If it names specialised kernels and they can be compiled
  // within `waiting`, returns these; otherwise the kernels for any words.
  Ready ready(Grid grid, std::optional<std::size_t> special, const RunOptions& waiting);
  // Gives the kernels for a grid from data.
  Ready ready_counted(StorageView::Role role, const RunOptions& waiting);

  // Names the parts of Uniform buffers whose words can select kernels.
  std::span<const Specialization::Part> parts() const { return specialization_->parts(); }
  // Counts a call with the words in these buffers. Once kernels that are specialised for these words pay off, returns the number of these
  // kernels.
  std::optional<std::size_t> choose(std::span<const BufferView> buffers, Grid grid);
  const ProfiledProgram& program() const { return program_; }

 private:
  // Has the kernels for any words, or those that are specialised for one set of words.
  struct Family {
    ProfiledProgram program;
    std::optional<Source> plain, coarse, counted;
    std::shared_ptr<const Kernel> plain_kernel, coarse_kernel, counted_kernel;
    bool tried_coarse = false;  // a program may have no coarsened kernel
    bool given_up = false;      // compiling the specialised kernels failed
  };
  // These are called by the one call that has its turn to compile.
  void open();
  Ready made(Grid grid, std::optional<std::size_t> special, const RunOptions& waiting);
  bool wants_coarse(const Family& family, Grid grid) const;

  const std::shared_ptr<Devices> devices_;
  const std::size_t index_;
  const ProfiledProgram program_;
  const Optimize options_;
  std::optional<Specialization> specialization_;
  // Held by a call while the driver compiles. Other calls wait for it until their own time-outs.
  SharedAccess compiling_;
  std::shared_ptr<Device> device_;
  // Destroyed before the device. The first one is for any words.
  std::array<Family, 1 + Specialization::kMost> families_;
  std::shared_ptr<const Kernel> counts_kernel_;
};

}  // namespace vyre::run::cuda
