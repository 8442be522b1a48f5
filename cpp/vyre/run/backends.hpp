// The list of backends, and which one runs when nobody names one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vyre/run/backend.hpp"

namespace vyre::run {

// One of each that this build has, in the order of the list; they live as long as the process.
const std::vector<Backend*>& backends();
// Null when there is none of that name.
Backend* find_backend(std::string_view name);

// A backend, and which of its devices.
struct Choice {
  Backend* backend = nullptr;
  std::optional<std::size_t> device;
};

// All that work here, best first: a real GPU, then cpu, then software Vulkan, then the reference (semantics, section 9). One
// choice a backend and rank: a backend with a GPU and a software device stands in the list twice.
std::vector<Choice> ranked(std::span<Backend* const> backends);
// The best of backends(). Asked anew each time: a device may have been lost since.
Choice choose_backend();

}  // namespace vyre::run
