// A program as text: readable, stable, and read back by parse() as exactly this program, valid or not.
#pragma once

#include <string>

#include "vyre/ir/program.hpp"

namespace vyre::ir {

std::string to_text(const Program& program);

}  // namespace vyre::ir
