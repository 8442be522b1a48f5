// The text form read back: parse(to_text(p)) == p for every program.
#pragma once

#include <string_view>

#include "vyre/ir/program.hpp"

namespace vyre::ir {

// Throws ParseError: "line 3, column 7: <problem>. Fix: <action>."
// Holds at most 64 bytes for a byte of text, and 1 MiB, whatever the text says.
Program parse(std::string_view text);

}  // namespace vyre::ir
