// The order of the reference's invocations, as Python writes it.
#pragma once

#include <string>

#include "bindings.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::python {

// None, "in-order", "reversed", "random" (seed 0) or "random:<seed>". Throws ArgumentError that names `where`.
run::Schedule to_schedule(py::handle object, const std::string& where);

// "in-order", "reversed" or "random:<seed>".
std::string schedule_text(const run::Schedule& schedule);

}  // namespace vyre::python
