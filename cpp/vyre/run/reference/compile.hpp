// Compiles a valid program, Calls included, to the reference's flat code.
#pragma once

#include "vyre/run/reference/code.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::reference {

Code compile(const validate::ValidProgram& program);

}  // namespace vyre::run::reference
