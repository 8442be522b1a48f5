#include "vyre/run/procedures/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "vyre/ir/data_type.hpp"

namespace vyre::run {

std::uint32_t element_bytes(ir::DataType element) { return std::max(ir::min_bytes(element), 1u); }

std::uint64_t element_count(std::span<const std::uint64_t> shape) {
  std::uint64_t total = 1;
  bool large = false;
  for (const std::uint64_t length : shape) {
    if (length == 0) return 0;
    large = __builtin_mul_overflow(total, length, &total) || large;
  }
  return large ? std::numeric_limits<std::uint64_t>::max() : total;
}

std::uint64_t bytes_of(ir::DataType element, const Shape& shape) { return element_count(shape) * element_bytes(element); }

std::string text_of(const Shape& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += fmt::format("{}{}", axis == 0 ? "" : ", ", shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace vyre::run
