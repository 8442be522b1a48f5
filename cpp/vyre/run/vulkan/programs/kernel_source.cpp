#include "vyre/run/vulkan/programs/kernel_source.hpp"

#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/vulkan/api/waiting.hpp"
#include "vyre/run/vulkan/compile/translate.hpp"
#include "vyre/run/vulkan/submit/grid_parts.hpp"

namespace vyre::run::vulkan {
namespace {

// A large GPU keeps a quarter of a million invocations at work (an NVIDIA H200: 132 * 2048). With fewer than that left after
// coarsening, a part of it would have nothing to do, and such a dispatch takes microseconds anyhow.
constexpr std::uint64_t kEnoughInvocations = std::uint64_t{kWays} << 18;

// How many invocations a program must have run with the same words before it is compiled for them. A driver takes about as long to
// compile as these runs take: 16 calls of 16 M invocations on a large GPU, one call of 1 M on a processor.
constexpr std::uint64_t kEnoughOnGpu = std::uint64_t{1} << 28, kEnoughOnProcessor = std::uint64_t{1} << 20;

}  // namespace

KernelSource::KernelSource(std::shared_ptr<Devices> devices, std::size_t device, Shader shader, const RunOptions& waiting)
    : devices_(std::move(devices)), index_(device) {
  families_[0].variants[0].plain = std::move(shader);
  ready({0, 0, 0}, 0, std::nullopt, waiting);
}

KernelSource::KernelSource(std::shared_ptr<Devices> devices, std::size_t device, const validate::ValidProgram& program,
                           const Optimize& options, const RunOptions& waiting)
    : devices_(std::move(devices)), index_(device), program_(std::make_shared<validate::ValidProgram>(program)), options_(options) {
  families_[0].program = program_;
  ready({0, 0, 0}, 0, std::nullopt, waiting);
  specialization_.emplace(program, options);
}

std::span<const Specialization::Part> KernelSource::parts() const {
  if (!specialization_) return {};
  return specialization_->parts();
}

std::optional<std::size_t> KernelSource::choose(const Specialization::Words& words, Grid grid, std::uint64_t calls) {
  return specialization_->choose(words, grid, calls, on_processor_ ? kEnoughOnProcessor : kEnoughOnGpu);
}

std::optional<std::size_t> KernelSource::choose(std::span<const BufferView> buffers, Grid grid) {
  // How many buffers there must be is checked with the other things about them.
  if (parts().empty() || buffers.size() != program_->bound().size()) return std::nullopt;
  return choose(specialization_->words(buffers), grid, 1);
}

KernelSource::Ready KernelSource::ready(Grid grid, std::uint64_t largest, std::optional<std::size_t> special, const RunOptions& waiting) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) {
    const Waiting patience(waiting);
    while (!lock.try_lock_for(kPollInterval)) patience.stop_compile_if_unwanted(devices_->name(index_));
  }
  if (special && !families_[1 + *special].given_up) {
    try {
      return made(grid, largest, special, waiting);
    } catch (const DeviceLostError&) {
      throw;
    } catch (const Interrupted&) {
      throw;
    } catch (const DispatchTimeoutError&) {
      // It is compiled meanwhile; a later call takes it.
    } catch (const std::exception&) {
      // The kernels for any words give the same result, so a failure to specialise is not reported.
      families_[1 + *special].given_up = true;
    }
  }
  return made(grid, largest, std::nullopt, waiting);
}

KernelSource::Ready KernelSource::made(Grid grid, std::uint64_t largest, std::optional<std::size_t> special, const RunOptions& waiting) {
  if (!device_ || device_->condemned()) {
    for (Family& family : families_) {
      for (Variant& variant : family.variants) variant.kernels = {};
    }
    device_ = devices_->open(index_);
    on_processor_ = device_->physical().type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  }
  Family& family = families_[special ? 1 + *special : 0];
  if (special && !family.program) family.program = std::make_shared<validate::ValidProgram>(specialization_->program(*special));
  const bool addresses = wants_addresses(*device_, largest);
  Variant& variant = family.variants[addresses ? 1 : 0];
  // The device is opened first: what the driver really does decides what is emitted for it.
  const Target target{.loop_budget = device_->loop_budget, .addresses = addresses};
  if (!variant.plain) variant.plain = translate(*family.program, target, options_);
  Kernels& kernels = variant.kernels;
  kernels.program = program_;
  if (!kernels.plain) kernels.plain = device_->pipeline(*variant.plain, !special, waiting);
  if (!wants_coarse(*device_, variant, grid)) return {device_, {kernels.plain, nullptr, program_}};
  if (!variant.tried_coarse) {
    variant.coarse = translate_coarsened(*family.program, kWays, target, options_);
    variant.tried_coarse = true;
    // One descriptor set and one list of constants serve both.
    VYRE_ASSERT(!variant.coarse || variant.coarse->binding_count() == variant.plain->binding_count());
  }
  if (!variant.coarse) return {device_, {kernels.plain, nullptr, program_}};
  // Compiled with the first call that is large enough, not with the second: a call that is planned then stays as it is.
  if (!kernels.coarse) kernels.coarse = device_->pipeline(*variant.coarse, !special, waiting);
  return {device_, kernels};
}

bool KernelSource::wants_addresses(const Device& device, std::uint64_t largest) const {
  // A call without arrays has no address.
  if (!program_ || !device.has_addresses() || largest == 0) return false;
  return options_.addresses || largest > device.max_storage_range();
}

bool KernelSource::wants_coarse(const Device& device, const Variant& variant, Grid grid) const {
  if (!program_ || !options_.coarsening || grid.x < kWays || grid.y == 0 || grid.z == 0) return false;
  // Where a driver may end the loops of an invocation after so many rounds, one must not do the rounds of several.
  if (variant.plain->has_status) return false;
  if (options_.everywhere) return true;
  // Software devices gain or lose by the program: they run both sides of a branch for all invocations, and a program with a guard has the
  // work of all copies on both. `a ^ b` with one took 7 % longer on llvmpipe and 15 % on SwiftShader, and without 11 % and 16 % less.
  if (device.physical().type == VK_PHYSICAL_DEVICE_TYPE_CPU) return false;
  const std::array<std::uint32_t, 3> groups = {grid.x, grid.y, grid.z};
  std::uint64_t invocations = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // An axis has 2^32 invocations at the most, so this cannot wrap.
    invocations *= std::uint64_t{groups[axis]} * variant.plain->workgroup_size[axis];
    if (invocations >= kEnoughInvocations) return true;
  }
  return false;
}

}  // namespace vyre::run::vulkan
