// A procedure as text, for people: what a change of an operation is reviewed by.
#pragma once

#include <string>

#include "vyre/ir/procedures/procedure.hpp"

namespace vyre::ir {

// The text of each program and procedure in it stands once, indented.
std::string to_text(const Procedure& procedure);

}  // namespace vyre::ir
