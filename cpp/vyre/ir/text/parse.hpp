// The text form read back: parse(to_text(p)) == p for every program.
#pragma once

#include <string_view>

#include "vyre/ir/program.hpp"

namespace vyre::ir {

// Throws ParseError: "line 3, column 7: <problem>. Fix: <action>."
// Holds at most 64 bytes for a byte of text, and 1 MiB, whatever the text says.
Program parse(std::string_view text);

// Reads the program that begins at `at` and ends before a `}` that closes none of its blocks, or with the text, and moves `at` to its end.
// Places count from the start of the whole text, which must be UTF-8 of less than 4 GiB.
Program parse_within(std::string_view text, std::size_t& at);

}  // namespace vyre::ir
