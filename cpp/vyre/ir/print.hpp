// A program as text: readable, stable, and read back by parse() as exactly this program, valid or not.
#pragma once

#include <string>

#include "vyre/ir/program.hpp"

namespace vyre::ir {

std::string to_text(const Program& program);

// The value of a literal as the text form writes it, without the type's suffix: "7", "-7", "true".
std::string digits(const Literal& literal);

}  // namespace vyre::ir
