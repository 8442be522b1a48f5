// Declarations as a Python user writes them, for hints.
#pragma once

#include <string>
#include <string_view>

#include "vyre/ir/program.hpp"

namespace vyre::advise {

// "\"out\"". A very long name is cut to its two ends.
std::string python_name(std::string_view name);

// "DataType.U32"
std::string python_type(ir::DataType type);

// "BufferDecl.read("left", 0, DataType.U32)"
std::string python_declaration(const ir::BufferDecl& decl);

}  // namespace vyre::advise
