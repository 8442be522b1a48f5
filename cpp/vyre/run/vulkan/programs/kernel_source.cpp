#include "vyre/run/vulkan/programs/kernel_source.hpp"

#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/gpu/kernel_choice.hpp"
#include "vyre/run/vulkan/compile/translate.hpp"

namespace vyre::run::vulkan {
namespace {

// Takes the place of kEnoughToSpecialize on software devices: as many invocations as one call of 1 M has.
constexpr std::uint64_t kEnoughOnProcessor = std::uint64_t{1} << 20;

}  // namespace

KernelSource::KernelSource(std::shared_ptr<Devices> devices, std::size_t device, Shader shader, const RunOptions& waiting)
    : devices_(std::move(devices)), index_(device) {
  families_[0].variants[0].plain = std::move(shader);
  ready({0, 0, 0}, 0, std::nullopt, waiting);
}

KernelSource::KernelSource(std::shared_ptr<Devices> devices, std::size_t device, const validate::ValidProgram& program,
                           const Optimize& options, const RunOptions& waiting)
    : devices_(std::move(devices)), index_(device), program_(std::make_shared<validate::ValidProgram>(program)), options_(options) {
  specialization_.emplace(program, options);
  families_[0].program = std::make_shared<validate::ValidProgram>(specialization_->program());
  ready({0, 0, 0}, 0, std::nullopt, waiting);
}

std::span<const Specialization::Part> KernelSource::parts() const {
  if (!specialization_) return {};
  return specialization_->parts();
}

std::optional<std::size_t> KernelSource::choose(const Specialization::Words& words, Grid grid, std::uint64_t calls) {
  return specialization_->choose(words, grid, calls, on_processor_ ? kEnoughOnProcessor : kEnoughToSpecialize);
}

std::optional<std::size_t> KernelSource::choose(std::span<const BufferView> buffers, Grid grid) {
  // A wrong number of buffers is reported by check_host_call.
  if (parts().empty() || buffers.size() != program_->bound().size()) return std::nullopt;
  return choose(specialization_->words(buffers), grid, 1);
}

KernelSource::Ready KernelSource::ready(Grid grid, std::uint64_t largest, std::optional<std::size_t> special, const RunOptions& waiting) {
  const auto turn = compiling_.write(waiting, Awaited::Compiler, [&] { return devices_->name(index_); });
  const auto usual = [&] { return made(grid, largest, std::nullopt, waiting); };
  if (!special) return usual();
  return special_or_usual(
      families_[1 + *special].given_up, [&] { return made(grid, largest, special, waiting); }, usual);
}

KernelSource::Ready KernelSource::made(Grid grid, std::uint64_t largest, std::optional<std::size_t> special, const RunOptions& waiting) {
  if (!device_ || device_->context().unusable()) {
    for (Family& family : families_) {
      for (Variant& variant : family.variants) variant.kernels = {};
    }
    device_ = devices_->open(index_);
    on_processor_ = device_->context().physical().type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  }
  Family& family = families_[special ? 1 + *special : 0];
  if (special && !family.program) family.program = std::make_shared<validate::ValidProgram>(specialization_->program(*special));
  const bool addresses = wants_addresses(device_->context(), largest);
  Variant& variant = family.variants[addresses ? 1 : 0];
  // The code is emitted only after the device was opened, because the results of its probes decide what is emitted.
  const Probes& probes = device_->context().probes;
  const Target target{.loop_budget = probes.loop_budget,
                      .addresses = addresses,
                      .accesses_8_bits = options_.narrow && probes.accesses_8_bits,
                      .accesses_16_bits = options_.narrow && probes.accesses_16_bits,
                      .integers_64_bits = probes.integers_64_bits};
  if (!variant.plain) variant.plain = translate(*family.program, target, options_);
  Kernels& kernels = variant.kernels;
  kernels.program = program_;
  if (!kernels.plain) kernels.plain = device_->pipeline(*variant.plain, !special, waiting);
  if (!wants_coarse(device_->context(), variant, grid)) return {device_, {kernels.plain, nullptr, program_}};
  if (!variant.tried_coarse) {
    variant.coarse = translate_coarsened(*family.program, kCoarseFactor, target, options_);
    variant.tried_coarse = true;
    // Both kernels use the same descriptor set and the same push constants.
    VYRE_ASSERT(!variant.coarse || variant.coarse->binding_count() == variant.plain->binding_count());
  }
  if (!variant.coarse) return {device_, {kernels.plain, nullptr, program_}};
  // The coarsened kernel is compiled for the first call that is large enough, and not later, because a planned call keeps its kernels.
  if (!kernels.coarse) kernels.coarse = device_->pipeline(*variant.coarse, !special, waiting);
  return {device_, kernels};
}

bool KernelSource::wants_addresses(const Context& context, std::uint64_t largest) const {
  // A call without arrays has no addresses.
  if (!program_ || !context.has_addresses() || largest == 0) return false;
  return options_.addresses || largest > context.max_storage_range();
}

bool KernelSource::wants_coarse(const Context& context, const Variant& variant, Grid grid) const {
  if (!program_ || !options_.coarsening || grid.x < kCoarseFactor || grid.y == 0 || grid.z == 0) return false;
  if (options_.everywhere) return true;
  // On software devices, coarsening makes some programs faster and others slower, so it is not done. These devices execute both sides of a
  // branch for all invocations, and a coarsened program with a guard has the work of all copies on both sides. With a guard, `a ^ b` took
  // 7 % longer on llvmpipe and 15 % longer on SwiftShader; without a guard, it took 11 % and 16 % less time.
  if (context.physical().type == VK_PHYSICAL_DEVICE_TYPE_CPU) return false;
  return fills_a_gpu_coarsened(grid, variant.plain->workgroup_size);
}

}  // namespace vyre::run::vulkan
