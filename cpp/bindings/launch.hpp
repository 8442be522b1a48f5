// What the fast ways of kernels and procedures share: see launch.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "bindings.hpp"

namespace vyre::python {

// The numbers that a scalar parameter takes.
struct NumberRange {
  std::int64_t least = 0;
  std::uint64_t most = 0;
};

// The low 64 bits of a plain int of the range; nothing for anything else.
std::optional<std::uint64_t> number_in(py::handle value, const NumberRange& range);

}  // namespace vyre::python
