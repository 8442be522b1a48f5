// A program as text: readable, stable, and read back by parse() as exactly this program, valid or not.
#pragma once

#include <string>

#include "vyre/ir/program.hpp"

namespace vyre::ir {

std::string to_text(const Program& program);
// The same, with the line of each statement, counted from 1.
std::string to_text(const Program& program, IdVector<NodeId, std::uint32_t>& lines);

}  // namespace vyre::ir
