// Names the place of a statement in its program as diagnostics do: "entry[2].then[0]".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vyre/ir/program.hpp"

namespace vyre::run {

// Takes statements in program order, each once; neither an Else nor an End.
std::vector<std::string> statement_paths(const ir::Program& program, std::span<const NodeId> statements);
std::string statement_path(const ir::Program& program, NodeId statement);

}  // namespace vyre::run
