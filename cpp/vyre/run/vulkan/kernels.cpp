#include "vyre/run/vulkan/kernels.hpp"

#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/run/vulkan/parts.hpp"
#include "vyre/run/vulkan/translate.hpp"

namespace vyre::run::vulkan {
namespace {

// A large GPU keeps a quarter of a million invocations at work (an NVIDIA H200: 132 * 2048). With fewer than that left after
// coarsening, a part of it would have nothing to do, and such a dispatch takes microseconds anyhow.
constexpr std::uint64_t kEnoughInvocations = std::uint64_t{kWays} << 18;

Shader translated(Devices& devices, std::size_t index, const validate::ValidProgram& program, const PrepareOptions& options) {
  // Opened first: what the driver really does decides what is emitted for it.
  return translate(program, devices.open(index)->loop_budget.has_value(), options);
}

}  // namespace

KernelSource::KernelSource(std::shared_ptr<Devices> devices, std::size_t device, Shader shader)
    : devices_(std::move(devices)), index_(device), plain_(std::move(shader)) {
  ready({0, 0, 0});
}

KernelSource::KernelSource(std::shared_ptr<Devices> devices, std::size_t device, const validate::ValidProgram& program,
                           const PrepareOptions& options)
    : devices_(std::move(devices)),
      index_(device),
      program_(program),
      options_(options),
      plain_(translated(*devices_, index_, program, options)) {
  ready({0, 0, 0});
}

KernelSource::Ready KernelSource::ready(Grid grid) {
  const std::lock_guard lock(mutex_);
  Kernels& kernels = ready_.kernels;
  if (!kernels.plain || ready_.device->condemned()) {
    kernels = {};
    ready_.device = devices_->open(index_);
    kernels.plain = ready_.device->pipeline(plain_);
  }
  const Shader* coarse = wants_coarse(*ready_.device, grid) ? coarse_shader() : nullptr;
  if (coarse == nullptr) return {ready_.device, {kernels.plain, nullptr}};
  // Compiled with the first call that is large enough, not with the second: a call that is planned then stays as it is.
  if (!kernels.coarse) kernels.coarse = ready_.device->pipeline(*coarse);
  return ready_;
}

bool KernelSource::wants_coarse(const Device& device, Grid grid) const {
  if (!program_ || !options_.coarsening || grid.x < kWays || grid.y == 0 || grid.z == 0) return false;
  // Where a driver ends loops after so many rounds of an invocation, one must not do the rounds of several.
  if (plain_.has_status) return false;
  if (options_.everywhere) return true;
  // Software devices gain or lose by the program: they run both sides of a branch for all invocations, and a program with a guard has the
  // work of all copies on both. `a ^ b` with one took 7 % longer on llvmpipe and 15 % on SwiftShader, and without 11 % and 16 % less.
  if (device.physical().type == VK_PHYSICAL_DEVICE_TYPE_CPU) return false;
  const std::array<std::uint32_t, 3> groups = {grid.x, grid.y, grid.z};
  std::uint64_t invocations = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // An axis has 2^32 invocations at the most, so this cannot wrap.
    invocations *= std::uint64_t{groups[axis]} * plain_.workgroup_size[axis];
    if (invocations >= kEnoughInvocations) return true;
  }
  return false;
}

const Shader* KernelSource::coarse_shader() {
  if (!tried_coarse_) {
    coarse_ = translate_coarsened(*program_, kWays, options_);
    tried_coarse_ = true;
    // One descriptor set and one list of constants serve both.
    VYRE_ASSERT(!coarse_ || coarse_->binding_count() == plain_.binding_count());
  }
  return coarse_ ? &*coarse_ : nullptr;
}

}  // namespace vyre::run::vulkan
