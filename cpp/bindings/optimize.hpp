// Argument `optimize`: what is done for the sake of speed.
#pragma once

#include <optional>
#include <string>

#include "bindings.hpp"
#include "vyre/run/optimize.hpp"

namespace vyre::python {

// True, False, or a list of names of speedups.def: these wherever they apply, and no others. "addresses" may be among them, for tests and
// fuzzing: it is not about speed, and so in neither True nor False. Gives nothing for None. `where` names the argument.
std::optional<run::Optimize> to_optimize(py::handle object, const std::string& where);

}  // namespace vyre::python
