// Where arrays can lie and programs run on this machine: every backend, and every device of CUDA and Vulkan in several ways.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/api/context.hpp"
#if VYRE_HAS_SPIRV
#include "vyre/run/vulkan/api/context.hpp"
#endif

namespace vyre::test {

// A device of a backend.
struct Place {
  std::string name;
  run::Backend* backend;
  std::optional<std::size_t> device;
};

// None of these is ever destroyed: devices are opened once a process.

// The reference and cpu.
std::vector<Place> host_places();
// Every usable CUDA device, of one backend with these options; `how` follows its name. None on a machine without the driver.
std::vector<Place> cuda_places(const std::string& how, const run::cuda::Options& options);
#if VYRE_HAS_SPIRV
// Every usable Vulkan device, of one backend with these options; `how` follows its name.
std::vector<Place> vulkan_places(const std::string& how, const run::vulkan::Options& options);
#endif
// All of them, CUDA and Vulkan in every way that they can be used.
const std::vector<Place>& places();

template <class Check>
void at_every_place(const Check& check) {
  for (const Place& place : places()) {
    SCOPED_TRACE(place.name);
    check(place);
  }
}

}  // namespace vyre::test
