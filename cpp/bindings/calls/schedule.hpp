// Converts the argument `schedule`, the order in which the reference runs invocations.
#pragma once

#include <string>

#include "bindings/bindings.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::python {

// Converts None, "in-order", "reversed", "random" (seed 0) or "random:<seed>". Throws ArgumentError, which names `where`.
run::Schedule to_schedule(py::handle object, const std::string& where);

}  // namespace vyre::python
