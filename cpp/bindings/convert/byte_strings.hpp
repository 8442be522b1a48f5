// Binds what the library's calls do with many byte strings on the host.
#pragma once

#include "bindings/bindings.hpp"

namespace vyre::python {

void bind_byte_strings(py::module_& m);

}  // namespace vyre::python
