// Lists the backends, and chooses one for calls that name none.
//
// The choice is an order: CUDA, a GPU by Vulkan, the processor, software Vulkan, the reference. The
// first of these that works here and computes a small program correctly is the default. Those behind
// it are not opened for that.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {

// The backends of this build, each once, always in the same order. They live as long as the process.
const std::vector<Backend*>& backends();
// Returns null if there is no backend with this name.
Backend* find_backend(std::string_view name);

struct DefaultBackend {
  Backend* backend = nullptr;
  std::string why;  // a sentence without its full stop
  // The backends that work as far as they know, but failed the small program, each with what went wrong.
  std::map<Backend*, std::string> failed;
};
// Chooses the default of these backends. The reference must be one of them.
DefaultBackend choose_default(std::span<Backend* const> backends);
// The default of this process. The first call chooses it.
const DefaultBackend& default_backend();

// Returns why a backend does not work here, or nothing if it works.
std::vector<std::string> reasons_unavailable(Backend& backend, const DefaultBackend& chosen);
// The backends that work here, each once, best first.
std::vector<Backend*> available_backends(std::span<Backend* const> backends, const DefaultBackend& chosen);

// Returns the program that `backend` should prepare. `optimize` is what the caller asked for, if anything. Most backends run the passes
// when they lower, so they get `program` itself. The reference lowers nothing: it gets the optimised program if the caller asked for the
// passes, and `program` otherwise.
validate::ValidProgram with_passes(const validate::ValidProgram& program, const Backend& backend, const std::optional<Optimize>& optimize);

// The text of a schedule, as messages and `schedule=` have it: "in-order", "reversed", "random:7".
std::string schedule_text(const Schedule& schedule);

}  // namespace vyre::run
