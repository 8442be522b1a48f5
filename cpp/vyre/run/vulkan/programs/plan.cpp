#include "vyre/run/vulkan/programs/plan.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/vulkan/calls/call_checks.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {
namespace {

using Call = SpecializedBatch::Call;

std::vector<Call> record(const KernelSource::Ready& ready, std::shared_ptr<KernelSource> source, std::span<const StorageView> views,
                         Grid grid) {
  std::vector<std::uint64_t> sizes;
  Call call;
  for (const StorageView& view : views) VYRE_ASSERT(&storage_of(view).device() == ready.device.get());
  const std::span<const StorageView> buffers = buffers_of(views);
  for (const StorageView& view : buffers) {
    call.locations.push_back({sizes.size(), view.offset, view.bytes});
    sizes.push_back(view.bytes);
  }
  check_sizes(ready.device->context(), ready.kernels.plain->shader(), sizes);
  if (is_empty(grid)) return {};
  RecordedCall::Groups groups{grid};
  if (const StorageView* counts = counts_of(views)) {
    groups.counts = RecordedCall::arrays_of({counts, 1}).front();
    groups.counted_by = counted_by(counts->role, ready.kernels.plain->shader().workgroup_size);
  }
  call.recorded = RecordedCall::make(ready.device, ready.kernels, RecordedCall::arrays_of(buffers), groups);
  call.source = std::move(source);
  return {std::move(call)};
}

// Returns for each view whether the call writes it. The call only reads the view of a grid from data.
std::vector<bool> writes_of_views(const Shader& shader, std::span<const StorageView> views) {
  std::vector<bool> result = shader.writable;
  result.resize(views.size(), false);
  return result;
}

const SpecializedBatch& batch_of(const Step& step) { return static_cast<const VulkanPlan&>(*step.plan).batch(); }

}  // namespace

VulkanPlan::VulkanPlan(KernelSource::Ready ready, std::shared_ptr<KernelSource> source, std::span<const StorageView> views, Grid grid)
    : batch_(ready.device, record(ready, std::move(source), views, grid), views, writes_of_views(ready.kernels.plain->shader(), views)) {}

VulkanPlan::VulkanPlan(std::shared_ptr<Device> device, std::vector<SpecializedBatch::Call> calls, std::span<const StorageView> views,
                       std::vector<bool> written, std::shared_ptr<void> held)
    : held_(std::move(held)), batch_(std::move(device), std::move(calls), views, std::move(written)) {}

VulkanSequence::Arrays VulkanSequence::joined(std::span<const Step> steps, std::vector<Call>& calls) {
  const std::shared_ptr<Device>& device = batch_of(steps.front()).device();
  Arrays arrays;
  std::map<const Storage*, std::size_t> known;
  for (const Step& step : steps) {
    const SpecializedBatch& batch = batch_of(step);
    if (batch.device() != device) {
      throw DeviceLostError(
          fmt::format("device `{}` was lost while a graph recorded. Fix: make its arrays anew, and record it again.", device->name()));
    }
    std::vector<SpecializedBatch::Location> locations;
    for (std::size_t slot = 0; slot < step.views.size(); ++slot) {
      const StorageView& view = step.views[slot];
      const auto [known_view, added] = known.emplace(view.storage, arrays.views.size());
      if (added) {
        arrays.views.push_back(view);
        arrays.written.push_back(false);
      }
      if (batch.written()[slot]) arrays.written[known_view->second] = true;
      locations.push_back({known_view->second, view.offset, view.bytes});
    }
    for (const Call& call : batch.calls()) calls.push_back({call.recorded, call.source, locations});
  }
  return arrays;
}

VulkanSequence::VulkanSequence(std::span<const Step> steps) : VulkanSequence(steps, {}) {}

VulkanSequence::VulkanSequence(std::span<const Step> steps, std::vector<Call> calls)
    : arrays_(joined(steps, calls)), batch_(batch_of(steps.front()).device(), std::move(calls), arrays_.views, arrays_.written) {
  for (const Step& step : steps) plans_.push_back(step.plan);
}

}  // namespace vyre::run::vulkan
