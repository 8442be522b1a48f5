#include "vyre/ir/data_type.hpp"

namespace vyre::ir {

std::optional<DataType> parse_type(std::string_view text) {
  for (const TypeInfo& row : kTypes) {
    if (row.text == text) return row.type;
  }
  return std::nullopt;
}

}  // namespace vyre::ir
