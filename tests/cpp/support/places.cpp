#include "support/places.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cuda/cuda_backend.hpp"
#include "vyre/run/reference/reference.hpp"
#if VYRE_HAS_SPIRV
#include "vyre/run/vulkan/vulkan_backend.hpp"
#endif

namespace vyre::test {
namespace {

std::vector<Place> places_of(run::Backend& backend, const std::string& how) {
  std::vector<Place> list;
  const std::vector<run::DeviceInfo> devices = backend.devices();
  for (std::size_t index = 0; index < devices.size(); ++index) {
    if (devices[index].usable) list.push_back({devices[index].name + how, &backend, index});
  }
  return list;
}

}  // namespace

std::vector<Place> host_places() {
  return {{"reference", run::make_reference_backend().release(), std::nullopt}, {"cpu", run::make_cpu_backend().release(), std::nullopt}};
}

#if VYRE_HAS_SPIRV
std::vector<Place> vulkan_places(const std::string& how, const run::vulkan::Options& options) {
  return places_of(*new run::vulkan::VulkanBackend(run::vulkan::system_loader, options), how);
}
#endif

std::vector<Place> cuda_places(const std::string& how, const run::cuda::Options& options) {
  return places_of(*new run::cuda::CudaBackend(run::cuda::system_library, options), " by CUDA" + how);
}

const std::vector<Place>& places() {
  static const std::vector<Place>& all = *[] {
    auto* list = new std::vector<Place>(host_places());
    using Count = std::array<std::uint32_t, 3>;
    const auto add_cuda = [&](const std::string& how, const run::cuda::Options& options) {
      for (Place& place : cuda_places(how, options)) list->push_back(std::move(place));
    };
    add_cuda("", {});
    add_cuda(", submitted beside", {.submission_thread = true});
    add_cuda(", in parts", {.max_group_count = Count{2, 1, 1}});
#if VYRE_HAS_SPIRV
    const auto add = [&](const std::string& how, const run::vulkan::Options& options) {
      for (Place& place : vulkan_places(how, options)) list->push_back(std::move(place));
    };
    add("", {});
    add(", staged", {.always_stage = true});
    add(", submitted beside, bound after recording", {.submission_thread = true, .update_after_bind = true});
    add(", in parts", {.max_group_count = Count{2, 1, 1}});
    add(", by address", {.max_storage_range = 0});
    add(", by address, staged and in parts", {.max_group_count = Count{2, 1, 1}, .max_storage_range = 15, .always_stage = true});
    add(", in parts of many submissions", {.max_group_count = Count{1, 1, 1}, .dispatches_per_submission = 3});
#endif
    return list;
  }();
  return all;
}

}  // namespace vyre::test
