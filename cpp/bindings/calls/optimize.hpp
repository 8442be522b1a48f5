// Converts the argument `optimize`, which chooses the optimisations.
#pragma once

#include <optional>
#include <string>

#include "bindings/bindings.hpp"
#include "vyre/run/optimize.hpp"

namespace vyre::python {

// Converts True, False, or a list of names of speedups.def, which turns on the named speedups wherever they apply, and no others. The list
// may also contain "addresses", for tests and fuzzing; it is no speedup, so neither True nor False turns it on. Returns nothing for None.
// `where` names the argument.
std::optional<run::Optimize> to_optimize(py::handle object, const std::string& where);

}  // namespace vyre::python
