#include "vyre/ir/handles/mistake.hpp"

namespace vyre::ir {

bool Integer::fits(DataType type) const {
  const TypeInfo& row = info(info(type).component);
  const auto value = static_cast<std::int64_t>(bits);
  if (row.kind == TypeKind::Unsigned) return !negative && (row.bytes == 8 || bits >> 8 * row.bytes == 0);
  if (row.kind != TypeKind::Signed || (!negative && value < 0)) return false;
  return value >> (8 * row.bytes - 1) == (value < 0 ? -1 : 0);
}

}  // namespace vyre::ir
