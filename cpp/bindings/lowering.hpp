// Argument `optimize`: what a program's lowering does for speed.
#pragma once

#include <optional>
#include <string>

#include "bindings.hpp"
#include "vyre/lower/options.hpp"

namespace vyre::python {

// True, False, or a list of names of options.def: these wherever they apply, and no others. "addresses" may be among them, for tests and
// fuzzing: it is no matter of speed, and so in neither True nor False. Nothing for None. `where` names the argument.
std::optional<lower::Options> to_lowering(py::handle object, const std::string& where);

}  // namespace vyre::python
