// The shape of an array of a procedure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vyre/ir/fwd.hpp"

namespace vyre::run {

// The lengths of an array along its axes, without that of a vector's lanes.
using Shape = std::vector<std::uint64_t>;

// The number of elements, or 2^64 - 1 if it does not fit 64 bits.
std::uint64_t element_count(std::span<const std::uint64_t> shape);
std::uint32_t element_bytes(ir::DataType element);
// The bytes of an array.
std::uint64_t bytes_of(ir::DataType element, const Shape& shape);
// "(3, 5)", as Python writes it.
std::string text_of(const Shape& shape);

}  // namespace vyre::run
