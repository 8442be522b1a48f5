// Where in the user's source a handle was made. Twelve bytes a node: file names are interned once for the process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vyre/base/diagnostic.hpp"

namespace vyre::ir {

struct SourcePlace {
  std::uint32_t file = 0;        // see intern_file; 0 when unknown
  std::uint32_t line = 0;        // 1-based, 0 when unknown
  std::uint16_t column = 0;      // 1-based, 0 when unknown
  std::uint16_t end_column = 0;  // one past the last; 0 when unknown or in another line

  bool known() const { return file != 0; }
};

// The place that a value remembers and that is no part of it: any two are equal.
struct MadeAt : SourcePlace {
  bool operator==(const MadeAt&) const { return true; }
};

// Safe from every thread.
std::uint32_t intern_file(std::string_view name);
std::string file_name(std::uint32_t file);

// For a reader; `path` says where in the program.
Place described(std::string path, SourcePlace place);

}  // namespace vyre::ir
