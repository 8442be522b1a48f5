#include "vyre/run/vulkan/plan.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/vulkan/call.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {
namespace {

std::vector<std::shared_ptr<Recording>> recorded(const std::shared_ptr<Device>& device, Kernels kernels, std::span<const StorageView> views,
                                                 Grid grid) {
  std::vector<std::uint64_t> sizes;
  for (const StorageView& view : views) {
    VYRE_ASSERT(&storage_of(view).device() == device.get());
    sizes.push_back(view.bytes);
  }
  check_sizes(*device, kernels.plain->shader(), sizes);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return {};
  return {Recording::make(device, std::move(kernels), views, grid)};
}

const VulkanPlan& plan_of(const Step& step) { return static_cast<const VulkanPlan&>(*step.plan); }

std::vector<std::shared_ptr<Recording>> calls_of(std::span<const Step> steps) {
  std::vector<std::shared_ptr<Recording>> calls;
  for (const Step& step : steps) {
    const auto own = plan_of(step).batch().calls();
    calls.insert(calls.end(), own.begin(), own.end());
  }
  return calls;
}

}  // namespace

VulkanPlan::VulkanPlan(std::shared_ptr<Device> device, Kernels kernels, std::span<const StorageView> views, Grid grid)
    : written_(kernels.plain->shader().writable), batch_(device, recorded(device, kernels, views, grid)) {}

VulkanSequence::VulkanSequence(std::span<const Step> steps) : batch_(plan_of(steps.front()).batch().device(), calls_of(steps)) {
  std::map<const Storage*, std::size_t> known;
  for (const Step& step : steps) {
    if (plan_of(step).batch().device() != batch_.device()) {
      const std::string& name = batch_.device()->name();
      throw DeviceLostError(
          fmt::format("device `{}` was lost while a graph recorded. Fix: make its arrays anew, and record it again.", name));
    }
    for (std::size_t slot = 0; slot < step.views.size(); ++slot) {
      const auto [place, added] = known.emplace(step.views[slot].storage, views_.size());
      if (added) {
        views_.push_back(step.views[slot]);
        written_.push_back(false);
      }
      if (plan_of(step).written()[slot]) written_[place->second] = true;
    }
  }
}

}  // namespace vyre::run::vulkan
