// Where a statement stands in its program, the way diagnostics name it: "entry[2].then[0]".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vyre/ir/program.hpp"

namespace vyre::run {

// Of statements in program order, each once; neither an Else nor an End.
std::vector<std::string> statement_paths(const ir::Program& program, std::span<const NodeId> statements);
std::string statement_path(const ir::Program& program, NodeId statement);

}  // namespace vyre::run
