// The list of backends, and which one runs when none is named.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {

// The backends of this build, one of each, in the order of the list. They live as long as the process.
const std::vector<Backend*>& backends();
// Null when there is none of that name.
Backend* find_backend(std::string_view name);

// A backend, and which of its devices.
struct Choice {
  Backend* backend = nullptr;
  std::optional<std::size_t> device;
};

// The backends that work here, best first: a real GPU, then cpu, then software Vulkan, then the reference. One choice a backend and rank: a
// backend with a GPU and a software device stands in the list twice.
std::vector<Choice> ranked(std::span<Backend* const> backends);
// The best of backends(). Asked anew each time: a device may have been lost since.
Choice choose_backend();

// The program that `backend` is to prepare for a caller who asked for `optimize`, or for nothing. The others run the passes when they
// lower; the reference runs what it is given, and is given the optimised program only when that was asked for.
validate::ValidProgram with_passes(const validate::ValidProgram& program, const Backend& backend, const std::optional<Optimize>& optimize);

}  // namespace vyre::run
