// What statements are called: the paths that diagnostics use too.
#pragma once

#include <string>
#include <vector>

#include "vyre/ir/program.hpp"

namespace vyre::fuzz {

// "entry[2].then[0]" of each, by number; empty for an Else and an End, which are no statements of the user's.
std::vector<std::string> statement_paths(const ir::Program& program);

}  // namespace vyre::fuzz
