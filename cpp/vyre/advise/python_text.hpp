// Declarations as a Python user writes them, for hints.
#pragma once

#include <string>
#include <string_view>

#include "vyre/ir/program.hpp"

namespace vyre::advise {

// "\"out\"". Of a very long name both ends.
std::string python_name(std::string_view name);

// "DataType.U32"
std::string python_type(ir::DataType type);

// "BufferDecl.read("left", 0, DataType.U32)"
std::string python_declaration(const ir::BufferDecl& decl);

}  // namespace vyre::advise
