// The text form of procedures read back: parse_procedure(to_text(p)) == p for every procedure whose names are unique and whose shapes have
// lengths of earlier arrays only (rules P001 and P012).
#pragma once

#include <string_view>

#include "vyre/ir/procedures/procedure.hpp"

namespace vyre::ir {

// Throws ParseError: "line 3, column 7: <problem>. Fix: <action>."
// Holds at most 256 bytes for a byte of text, and 1 MiB, whatever the text says.
Procedure parse_procedure(std::string_view text);

}  // namespace vyre::ir
