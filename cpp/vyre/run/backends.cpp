#include "vyre/run/backends.hpp"

#include <algorithm>

#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cuda/backend.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/run/vulkan/backend.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::run {
namespace {

// Devices of a smaller rank are preferred.
enum class Rank { Gpu = 0, Cpu = 1, SoftwareGpu = 2, Reference = 3 };

Rank rank(const Backend& backend, const DeviceInfo& device) {
  if (backend.name() == "reference") return Rank::Reference;
  if (backend.name() == "cpu") return Rank::Cpu;
  const bool software = device.kind == "software gpu" || device.kind == "cpu";
  return software ? Rank::SoftwareGpu : Rank::Gpu;
}

}  // namespace

const std::vector<Backend*>& backends() {
  // Never destroyed: threads that outlive main may still wait for a device.
  static const std::vector<Backend*>& list = *new std::vector<Backend*>([] {
    return std::vector<Backend*>{
        make_vulkan_backend().release(),
        make_cuda_backend().release(),
        make_cpu_backend().release(),
        make_reference_backend().release(),
    };
  }());
  return list;
}

Backend* find_backend(std::string_view name) {
  auto found = std::find_if(backends().begin(), backends().end(), [&](const Backend* backend) { return backend->name() == name; });
  return found == backends().end() ? nullptr : *found;
}

std::vector<Choice> ranked(std::span<Backend* const> backends) {
  struct Ranked {
    Rank rank;
    Choice choice;
  };
  std::vector<Ranked> all;
  for (Backend* backend : backends) {
    if (!backend->reasons_unavailable().empty()) continue;
    const std::vector<DeviceInfo> devices = backend->devices();
    for (std::size_t index = 0; index < devices.size(); ++index) {
      if (!devices[index].usable) continue;
      const Rank here = rank(*backend, devices[index]);
      const auto known =
          std::find_if(all.begin(), all.end(), [&](const Ranked& other) { return other.choice.backend == backend && other.rank == here; });
      if (known == all.end()) {
        all.push_back({here, {backend, index}});
      } else if (devices[index].is_default) {
        known->choice.device = index;
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  std::vector<Choice> choices;
  choices.reserve(all.size());
  for (const Ranked& each : all) choices.push_back(each.choice);
  return choices;
}

validate::ValidProgram with_passes(const validate::ValidProgram& program, const Backend& backend, const std::optional<Optimize>& optimize) {
  if (!optimize || !optimize->passes || backend.name() != "reference") return program;
  const Span span("optimize");
  return transform::optimize(program);
}

}  // namespace vyre::run
