// Lists the backends, and chooses one for calls that name none.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {

// The backends of this build, each once, always in the same order. They live as long as the process.
const std::vector<Backend*>& backends();
// Returns null if there is no backend with this name.
Backend* find_backend(std::string_view name);

// A backend, and the index of one of its devices.
struct Choice {
  Backend* backend = nullptr;
  std::optional<std::size_t> device;
};

// The backends that work here, best first: a real GPU, then cpu, then software Vulkan, then the reference. There is one choice for each
// backend and rank, so a backend with a GPU and a software device is in the list twice.
std::vector<Choice> ranked(std::span<Backend* const> backends);

// Returns the program that `backend` should prepare. `optimize` is what the caller asked for, if anything. Most backends run the passes
// when they lower, so they get `program` itself. The reference lowers nothing: it gets the optimised program if the caller asked for the
// passes, and `program` otherwise.
validate::ValidProgram with_passes(const validate::ValidProgram& program, const Backend& backend, const std::optional<Optimize>& optimize);

}  // namespace vyre::run
