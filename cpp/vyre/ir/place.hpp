// Where in the user's source a handle was made. Twelve bytes a node: file names are interned once for the process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vyre::ir {

struct SourcePlace {
  std::uint32_t file = 0;    // see intern_file; 0 when unknown
  std::uint32_t line = 0;    // 1-based, 0 when unknown
  std::uint32_t column = 0;  // 1-based, 0 when unknown

  bool known() const { return file != 0; }
};

// Safe from every thread.
std::uint32_t intern_file(std::string_view name);
std::string file_name(std::uint32_t file);

}  // namespace vyre::ir
