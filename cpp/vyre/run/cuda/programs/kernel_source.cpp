#include "vyre/run/cuda/programs/kernel_source.hpp"

#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/gpu/kernel_choice.hpp"

namespace vyre::run::cuda {

KernelSource::KernelSource(std::shared_ptr<Devices> devices, std::size_t device, const validate::ValidProgram& program,
                           const Optimize& options, const RunOptions& waiting)
    : devices_(std::move(devices)), index_(device), program_(std::make_shared<validate::ValidProgram>(program)), options_(options) {
  specialization_.emplace(program, options);
  families_[0].program = std::make_shared<validate::ValidProgram>(specialization_->program());
  ready({0, 0, 0}, std::nullopt, waiting);
}

std::optional<std::size_t> KernelSource::choose(std::span<const BufferView> buffers, Grid grid) {
  if (parts().empty()) return std::nullopt;
  return specialization_->choose(specialization_->words(buffers), grid, 1, kEnoughToSpecialize);
}

void KernelSource::open() {
  if (device_ && !device_->context().unusable()) return;
  for (Family& family : families_) family.plain_kernel = family.coarse_kernel = family.counted_kernel = nullptr;
  counts_kernel_ = nullptr;
  device_ = devices_->open(index_);
}

KernelSource::Ready KernelSource::ready(Grid grid, std::optional<std::size_t> special, const RunOptions& waiting) {
  const auto turn = compiling_.write(waiting, Awaited::Compiler, [&] { return devices_->name(index_); });
  const auto usual = [&] { return made(grid, std::nullopt, waiting); };
  if (!special) return usual();
  return special_or_usual(
      families_[1 + *special].given_up, [&] { return made(grid, special, waiting); }, usual);
}

KernelSource::Ready KernelSource::made(Grid grid, std::optional<std::size_t> special, const RunOptions& waiting) {
  open();
  Family& family = families_[special ? 1 + *special : 0];
  if (special && !family.program) family.program = std::make_shared<validate::ValidProgram>(specialization_->program(*special));
  if (!family.plain) family.plain = translate(*family.program, options_, false);
  if (!family.plain_kernel) family.plain_kernel = device_->kernel(*family.plain, waiting);
  Kernels kernels{family.plain_kernel, nullptr, program_, nullptr};
  if (!wants_coarse(family, grid)) return {device_, std::move(kernels)};
  if (!family.tried_coarse) {
    family.coarse = translate_coarsened(*family.program, kCoarseFactor, options_);
    family.tried_coarse = true;
  }
  if (!family.coarse) return {device_, std::move(kernels)};
  // The coarsened kernel is compiled during the first call with a large enough grid, not later: a planned call keeps the kernels that it
  // got.
  if (!family.coarse_kernel) family.coarse_kernel = device_->kernel(*family.coarse, waiting);
  kernels.coarse = family.coarse_kernel;
  return {device_, std::move(kernels)};
}

KernelSource::Ready KernelSource::ready_counted(StorageView::Role role, const RunOptions& waiting) {
  const auto turn = compiling_.write(waiting, Awaited::Compiler, [&] { return devices_->name(index_); });
  open();
  Family& family = families_[0];
  if (!family.counted) family.counted = translate(*program_, options_, true);
  if (!family.counted_kernel) family.counted_kernel = device_->kernel(*family.counted, waiting);
  Kernels kernels{family.counted_kernel, nullptr, program_, nullptr};
  if (role == StorageView::Role::Invocations) {
    if (!counts_kernel_) counts_kernel_ = device_->kernel(counts_source(program_->program().workgroup_size()), waiting);
    kernels.counts = counts_kernel_;
  }
  return {device_, std::move(kernels)};
}

bool KernelSource::wants_coarse(const Family& family, Grid grid) const {
  if (!options_.coarsening || grid.x < kCoarseFactor || grid.y == 0 || grid.z == 0) return false;
  return options_.everywhere || fills_a_gpu_coarsened(grid, family.plain->code.bindings.workgroup_size);
}

}  // namespace vyre::run::cuda
